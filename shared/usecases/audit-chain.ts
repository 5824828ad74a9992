import { createHash } from 'node:crypto'
import { canonicalJson } from './canonical-json.ts'
import type { AuditChainRepository, AuditLink, AuditRecord } from './ports/audit.ts'

/** Rows that get their places in one transaction. */
const BATCH_MAX = 100

/** What the first row stands on. */
export const CHAIN_START = '0'.repeat(64)

/**
 * Hash of a row in its place: SHA-256 over the UTF-8 bytes of `{"prevHash":…,"row":{…},"seq":…}`, JSON without spaces and with the
 * names in every object in the order of their code units, times in Unix milliseconds. Lower-case hex.
 */
export function chainHash(seq: number, prevHash: string, record: AuditRecord): string {
  return createHash('sha256')
    .update(canonicalJson({ seq, prevHash, row: record }))
    .digest('hex')
}

/**
 * Gives rows that wait their places behind the last one, and ends when none is left or `shouldStop` says so. One writer at a
 * time is meant to do so; a second one, or one that slept while another went on, finds the next number taken, stops and
 * loses nothing. Returns how many rows it chained.
 */
export async function extendAuditChain(
  { chain }: { readonly chain: Pick<AuditChainRepository, 'tail' | 'waiting' | 'append'> },
  shouldStop: () => boolean,
): Promise<number> {
  let chained = 0
  while (!shouldStop()) {
    const [tail, waiting] = [await chain.tail(), await chain.waiting(BATCH_MAX)]
    if (waiting.length === 0) return chained
    if (!(await chain.append(linksBehind(tail, waiting)))) return chained
    chained += waiting.length
  }
  return chained
}

function linksBehind(tail: AuditLink | null, records: readonly AuditRecord[]): readonly (AuditLink & { id: string })[] {
  let { seq, hash } = tail ?? { seq: 0, hash: CHAIN_START }
  return records.map((record) => {
    const prevHash = hash
    seq += 1
    hash = chainHash(seq, prevHash, record)
    return { id: record.id, seq, prevHash, hash }
  })
}
