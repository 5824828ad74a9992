import { CHAIN_START, chainHash } from './audit-chain.ts'
import type { AuditChainRepository, ChainedAudit, UnchainedAudits } from './ports/audit.ts'

const BATCH = 1_000

/** The first place at which the audit trail is not what was written. */
export interface AuditBreak {
  /**
   * `removed`: a number is missing; `forked`: two rows carry one number, or a row was chained behind another one than the
   * row before it; `moved`: a sound row under another number; `changed`: its content is not what was chained; `cut`: the trail
   * ends before, or is another one at, the place that was noted.
   */
  readonly kind: 'removed' | 'forked' | 'moved' | 'changed' | 'cut'
  readonly seq: number
  /** The row found there, if any. */
  readonly id: string | null
  /** One sentence for a person. */
  readonly words: string
}

/** The last link as somebody noted it earlier: whoever can write to the store can also cut the end off, unseen from within. */
export interface NotedHead {
  readonly seq: number
  readonly hash: string
}

/** What walking the whole trail showed. */
export interface AuditVerdict {
  readonly intact: boolean
  /** Rows found sound, up to the break if there is one. */
  readonly checked: number
  readonly firstBreak: AuditBreak | null
  /** The last sound link, to be noted somewhere else; null while there is none. */
  readonly head: NotedHead | null
  readonly unchained: UnchainedAudits
}

/** What verifying needs; nothing is ever written. */
export interface VerifyAuditDeps {
  readonly chain: Pick<AuditChainRepository, 'listChained' | 'countChained' | 'unchained'>
}

/** How to verify. */
export interface VerifyAuditInput {
  readonly noted: NotedHead | null
  /** Told after every batch of rows. */
  onProgress(checked: number, total: number): void
}

/**
 * Walks the audit trail from its first row, computes every hash anew, and ends at the first row that was changed, removed, moved
 * or forked. Rows that have no place yet are counted and are no break; they get one within seconds while the outbox runs.
 */
export async function verifyAudit({ chain }: VerifyAuditDeps, input: VerifyAuditInput): Promise<AuditVerdict> {
  const { noted } = input
  const total = await chain.countChained()
  let before: ChainedAudit | null = null
  let firstBreak: AuditBreak | null = null
  let checked = 0
  while (firstBreak === null) {
    const last: ChainedAudit | null = before
    const rows = await chain.listChained(last === null ? null : { seq: last.seq, id: last.record.id }, BATCH)
    for (const row of rows) {
      firstBreak = breakAt(row, before, noted, total)
      if (firstBreak !== null) break
      before = row
      checked += 1
    }
    input.onProgress(checked, total)
    if (rows.length < BATCH) break
  }
  const end: ChainedAudit | null = before
  firstBreak ??= breakBehind(end?.seq ?? 0, { noted, checked, total })
  const unchained = await chain.unchained()
  const head = end === null ? null : { seq: end.seq, hash: end.hash }
  return { intact: firstBreak === null, checked, firstBreak, head, unchained }
}

function breakAt(
  row: ChainedAudit,
  before: ChainedAudit | null,
  noted: NotedHead | null,
  total: number,
): AuditBreak | null {
  const { seq, prevHash, hash, record } = row
  const expected = (before?.seq ?? 0) + 1
  const found = { seq, id: record.id }
  if (seq < expected) return { ...found, kind: 'forked', words: `Two rows carry number ${seq}.` }
  if (seq > expected) {
    const words = `Row ${expected} is missing: the next one is ${seq} (${record.id}).`
    return { kind: 'removed', seq: expected, id: null, words }
  }
  const isSound = chainHash(seq, prevHash, record) === hash
  if (!isSound) {
    const other = otherNumber(row, total)
    return other === null
      ? { ...found, kind: 'changed', words: `Row ${seq} (${record.id}) is not what was chained.` }
      : { ...found, kind: 'moved', words: `Row ${seq} (${record.id}) was chained as row ${other}.` }
  }
  if (prevHash !== (before?.hash ?? CHAIN_START)) {
    const words = `Row ${seq} (${record.id}) was chained behind another row than the one before it.`
    return { ...found, kind: 'forked', words }
  }
  if (noted?.seq === seq && noted.hash !== hash) {
    return { ...found, kind: 'cut', words: `Row ${seq} (${record.id}) is another one than was noted.` }
  }
  return null
}

/** What is wrong although every row up to the last one is sound. */
function breakBehind(
  last: number,
  { noted, checked, total }: { readonly noted: NotedHead | null; readonly checked: number; readonly total: number },
): AuditBreak | null {
  const found = { seq: last + 1, id: null }
  if (noted !== null && noted.seq > last) {
    const words = `The trail ends with row ${last}, and row ${noted.seq} was there when it was noted.`
    return { ...found, kind: 'cut', words }
  }
  if (checked >= total) return null
  return { ...found, kind: 'changed', words: `${total - checked} rows carry something that is no number.` }
}

/** The number under which a row is sound; null when it is under none. */
function otherNumber({ prevHash, hash, record }: ChainedAudit, total: number): number | null {
  // Rows behind removed ones carry higher numbers than there are rows.
  for (let seq = 1; seq <= total * 2; seq += 1) if (chainHash(seq, prevHash, record) === hash) return seq
  return null
}
