import { invalidField } from '#shared/contracts/errors.ts'

/** A workspace name without surrounding space, 1 to 120 characters; throws `VALIDATION_ERROR` with path `name`. */
export function validName(name: string): string {
  const trimmed = name.trim()
  if (trimmed.length > 0 && trimmed.length <= 120) return trimmed
  throw invalidField('name', 'Must have 1 to 120 characters.')
}

/** A plausible e-mail address in lower case; throws `VALIDATION_ERROR` with path `owner_email`. */
export function validEmail(email: string): string {
  const trimmed = email.trim().toLowerCase()
  if (trimmed.length <= 254 && /^[^\s@]+@[^\s@.]+(\.[^\s@.]+)+$/.test(trimmed)) return trimmed
  throw invalidField('owner_email', 'Must be an email address.')
}
