import { timingSafeEqual } from 'node:crypto'
import type { Mark, MarkRecordId } from '#shared/ports/marks.ts'
import type { AuditKeys } from '#shared/ports/secrets.ts'

/** The keys that sign marks; null in a process without the master key, which reads marks and cannot check them. */
export type MarkKeys = AuditKeys | null

/** A mark as a place stores it: number, id of the signing key, its HMAC-SHA256, and the detail in base64url, with spaces between. */
export function markText(record: MarkRecordId, { field, value, detail = '' }: Mark, keys: AuditKeys): string {
  const mac = keys.mac(keys.keyId, signedText(record, field, value, detail))
  return [value, keys.keyId, mac, Buffer.from(detail, 'utf8').toString('base64url')].join(' ').trimEnd()
}

/** The mark behind a stored text; null for one that is malformed, belongs to another record or field, or that no key of the installation signed. */
export function readMark(record: MarkRecordId, field: string, text: string, keys: MarkKeys): Mark | null {
  const [number = '', keyId = '', mac = '', encoded = ''] = text.split(' ')
  const value = /^\d{1,16}$/.test(number) ? Number(number) : Number.NaN
  if (!Number.isSafeInteger(value)) return null
  const detail = Buffer.from(encoded, 'base64url').toString('utf8')
  if (keys !== null && !isSame(mac, keys.mac(keyId, signedText(record, field, value, detail)))) return null
  return { field, value, ...(detail !== '' && { detail }) }
}

function isSame(given: string, expected: string | null): boolean {
  if (expected === null || given.length !== expected.length) return false
  return timingSafeEqual(Buffer.from(given, 'utf8'), Buffer.from(expected, 'utf8'))
}

const signedText = ({ installation, life }: MarkRecordId, field: string, value: number, detail: string): string =>
  JSON.stringify(['mark', installation, life, field, value, detail])
