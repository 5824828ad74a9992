import { createHash } from 'node:crypto'
import type { AuditRecord } from '#shared/ports/audit.ts'
import type { AuditLink } from '#shared/ports/audit-chain.ts'
import { canonicalJson } from './canonical-json.ts'

/** Previous hash of the first row. */
export const CHAIN_START = '0'.repeat(64)

/**
 * Hash of a row at its number: SHA-256 over the UTF-8 bytes of `{"prevHash":…,"row":{…},"seq":…}`, JSON without spaces and with the
 * names in every object in the order of their code units, times in Unix milliseconds. Lower-case hex.
 */
export function chainHash(seq: number, prevHash: string, record: AuditRecord): string {
  return createHash('sha256')
    .update(canonicalJson({ seq, prevHash, row: record }))
    .digest('hex')
}

/** The text a key signs: this row has this number and hash (`row`), or the chain ends with it (`head`). */
export function signedText(what: 'row' | 'head', { seq, hash }: Pick<AuditLink, 'seq' | 'hash'>): string {
  return canonicalJson({ audit: what, seq, hash })
}
