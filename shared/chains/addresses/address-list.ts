import { PaymeshError } from '#shared/contracts/errors.ts'
import type { Family } from '#shared/domain/enumerations.ts'
import { privateForm } from './private-form.ts'
import { parseReceivingAddress, type ReceivingAddress } from './receiving-address.ts'
import { refusal } from './refusal.ts'

/** Addresses one list may hold. */
const LIST_MAX = 10_000
/** Problems reported at once; a file of the wrong kind has one in every line. */
const NAMED_MAX = 20

/** The distinct addresses of a list in their order, and how many entries repeated an earlier one. */
export interface AddressList {
  readonly addresses: readonly ReceivingAddress[]
  readonly repeated: number
}

/**
 * Reads addresses separated by line ends, commas, semicolons or spaces, quoted or not; a first line of words (a CSV
 * heading) and lines that begin with # are skipped. Throws `VALIDATION_ERROR` with path `value` that names the
 * line and problem of each wrong entry, and repeats no entry: one may be a private key.
 */
export function parseAddressList(family: Family, value: string): AddressList {
  const privately = privateForm(value.trim())
  if (privately !== null) throw refusal(privately)
  const entries = value.split(/\r\n|\n|\r/).flatMap((line, index) => entriesOf(line, index + 1))
  if (entries.length === 0) throw refusal('The list contains no address.')
  if (entries.length > LIST_MAX)
    throw refusal(`The list contains more than ${LIST_MAX} addresses. Add them in several steps.`)
  const addresses = new Map<string, ReceivingAddress>()
  const problems: { path: string; message: string }[] = []
  for (const { line, text } of entries) {
    try {
      const parsed = parseReceivingAddress(family, text)
      addresses.set(parsed.matchKey, parsed)
    } catch (error) {
      if (!(error instanceof PaymeshError)) throw error
      for (const { message } of error.details ?? [])
        problems.push({ path: 'value', message: `Line ${line}: ${message}` })
    }
  }
  if (problems.length === 0) return { addresses: [...addresses.values()], repeated: entries.length - addresses.size }
  const rest = problems.length - NAMED_MAX
  throw new PaymeshError('VALIDATION_ERROR', {
    details: [
      ...problems.slice(0, NAMED_MAX),
      ...(rest > 0 ? [{ path: 'value', message: `${rest} more entries are invalid.` }] : []),
    ],
  })
}

function entriesOf(line: string, number: number): readonly { line: number; text: string }[] {
  if (line.trimStart().startsWith('#')) return []
  const phrase = privateForm(line.trim())
  // A phrase on one line must not be split into words whose problems would fill the response.
  const texts = phrase === null ? line.split(/[\s,;]+/) : [line.trim()]
  const cleaned = texts.map((text) => text.replace(/^"(.*)"$/, '$1')).filter((text) => text !== '')
  const heading = number === 1 && cleaned.length > 0 && cleaned.every((text) => /^[a-z_]{1,20}$/i.test(text))
  return heading && phrase === null ? [] : cleaned.map((text) => ({ line: number, text }))
}
