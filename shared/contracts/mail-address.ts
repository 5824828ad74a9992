/** One mailbox: display name and address. */
export interface MailAddress {
  /** May be empty. Never contains control characters. */
  readonly name: string
  readonly address: string
}

/** RFC 5321 §4.5.3.1: a path of 256 characters minus its brackets. */
const LENGTH_MAX = 254
const NAME_LENGTH_MAX = 100

/**
 * A single plain address (RFC 5321 without quoted local parts and address literals): nothing in it can end a header
 * line, begin a second address or carry a comment. Letters of other scripts are allowed.
 */
const PLAIN = /^[^\s@<>()[\],;:\\"\p{C}]+@[\p{L}\p{N}](?:[\p{L}\p{N}.-]*[\p{L}\p{N}])?$/u
const WITH_NAME = /^(?<name>[^<>"\p{C}]*)<(?<address>[^<>]*)>$/u

/** True for one plain e-mail address that is safe in an envelope and in a header. */
export function isMailAddress(text: string): boolean {
  return text.length <= LENGTH_MAX && PLAIN.test(text) && !text.includes('..')
}

/** `address` or `Name <address>`; null for anything else, several addresses included. */
export function parseMailAddress(text: string): MailAddress | null {
  if (isMailAddress(text)) return { name: '', address: text }
  const { name = '', address = '' } = WITH_NAME.exec(text)?.groups ?? {}
  const shown = name.trimEnd()
  return isMailAddress(address) && shown.length <= NAME_LENGTH_MAX ? { name: shown, address } : null
}
