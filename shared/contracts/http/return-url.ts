import type { Mode } from '#shared/domain/enumerations.ts'
import { readPlainUrl } from './plain-url.ts'
import { text } from './text.ts'

/** Where the payer goes after the checkout: https, or `http://localhost` with a test key. Without credentials. */
export function returnUrl(mode: Mode) {
  return text(2_048)
    .meta({ format: 'uri' })
    .superRefine((value, context) => {
      const fault = faultOf(value, mode)
      if (fault !== null) context.addIssue({ code: 'custom', message: fault, input: value })
    })
}

function faultOf(text: string, mode: Mode): string | null {
  const { url, fault } = readPlainUrl(text)
  if (url === null) return fault
  const local = url.protocol === 'http:' && url.hostname === 'localhost' && mode === 'test'
  if (url.protocol !== 'https:' && !local)
    return mode === 'test' ? 'must be an https URL or http://localhost' : 'must be an https URL'
  return url.username !== '' || url.password !== '' ? 'must not carry credentials' : null
}
