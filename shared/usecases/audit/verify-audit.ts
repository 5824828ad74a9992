import type { AuditChainRepository, AuditHead, ChainedAudit, UnchainedAudits } from '#shared/ports/audit.ts'
import type { AuditKeys } from '#shared/ports/secrets.ts'
import { CHAIN_START, chainHash, signedText } from './audit-chain.ts'

const BATCH = 1_000

/** The first place at which the audit trail is not what was written. */
export interface AuditBreak {
  /**
   * `removed`: a number is missing; `forked`: two rows carry one number, or a row was chained behind another one than the
   * row before it; `moved`: a sound row under another number; `changed`: its content is not what was chained; `forged`: its hashes
   * fit and its signature does not; `unsigned`: the newest rows, or all, carry no signature;
   * `unknown_key`: the newest rows are signed under a key that was not given; `cut`: the trail ends before, or is another one
   * at, the place that was signed as its end or that was noted elsewhere.
   */
  readonly kind: 'removed' | 'forked' | 'moved' | 'changed' | 'forged' | 'unsigned' | 'unknown_key' | 'cut'
  readonly seq: number
  /** The row found there, if any. */
  readonly id: string | null
  /** One sentence for a person. */
  readonly words: string
}

/** The last link as somebody noted it earlier, outside of the store: a store that was put back to an earlier state is sound within. */
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
  /**
   * First row that carries a signature. What stands before it was chained by a version without keys: who could write to the store could
   * write it anew until that row was signed, and nobody can since. Null while no row is signed.
   */
  readonly signedFrom: number | null
  /** Rows signed under keys that were not given; a later row under a known key vouches for them. */
  readonly underFormerKeys: number
  readonly unchained: UnchainedAudits
}

/** What verifying needs; nothing is ever written. */
export interface VerifyAuditDeps {
  readonly chain: Pick<AuditChainRepository, 'listChained' | 'countChained' | 'unchained' | 'head'>
  readonly keys: AuditKeys
}

/** How to verify. */
export interface VerifyAuditInput {
  readonly noted: NotedHead | null
  /** Called after every batch of rows. */
  onProgress(checked: number, total: number): void
}

/** What is known of the rows walked so far. */
interface Walk {
  before: ChainedAudit | null
  checked: number
  signedFrom: number | null
  underFormerKeys: number
  /** The last row whose signature was verified. */
  vouchedTo: number
  /** Unsigned rows behind that one. */
  unsignedSince: number
}

/** What the rows are held against. */
interface Marks {
  readonly keys: AuditKeys
  readonly noted: NotedHead | null
  /** The signed end as it was before the walk began. */
  readonly end: AuditHead | null
  readonly total: number
}

/**
 * Walks the audit trail from its first row, computes every hash and every signature whose key is known, and ends at the first row that
 * was changed, removed, moved, forked or forged; then holds the end against the one that was signed. Rows that have no place yet are
 * counted and are no break; they get one within seconds while the outbox runs.
 */
export async function verifyAudit({ chain, keys }: VerifyAuditDeps, input: VerifyAuditInput): Promise<AuditVerdict> {
  const marks: Marks = { keys, noted: input.noted, end: await chain.head(), total: await chain.countChained() }
  const walk: Walk = { before: null, checked: 0, signedFrom: null, underFormerKeys: 0, vouchedTo: 0, unsignedSince: 0 }
  let firstBreak = endBreak(marks)
  while (firstBreak === null) {
    const last: ChainedAudit | null = walk.before
    const rows = await chain.listChained(last === null ? null : { seq: last.seq, id: last.record.id }, BATCH)
    for (const row of rows) {
      firstBreak = breakAt(row, walk.before, marks) ?? signatureBreak(row, walk, marks)
      if (firstBreak !== null) break
      walk.before = row
      walk.checked += 1
    }
    input.onProgress(walk.checked, marks.total)
    if (rows.length < BATCH) break
  }
  firstBreak ??= breakBehind(walk, marks)
  const { before, checked, signedFrom, underFormerKeys } = walk
  const head = before === null ? null : { seq: before.seq, hash: before.hash }
  const unchained = await chain.unchained()
  return { intact: firstBreak === null, checked, firstBreak, head, signedFrom, underFormerKeys, unchained }
}

/** What is wrong with the signed end itself. One under a key that is not known says nothing; the rows then say so. */
function endBreak({ end, keys }: Marks): AuditBreak | null {
  if (end === null) return null
  const mac = keys.mac(end.keyId, signedText('head', end))
  if (mac === null || mac === end.mac) return null
  return { kind: 'forged', seq: end.seq, id: null, words: 'The signed end of the trail was changed.' }
}

/** Notes what the row's signature proves, or says what is wrong with it. */
function signatureBreak(
  { seq, hash, keyId, mac, record }: ChainedAudit,
  walk: Walk,
  { keys }: Marks,
): AuditBreak | null {
  if (mac === undefined || keyId === undefined) {
    if (walk.signedFrom !== null) walk.unsignedSince += 1
    return null
  }
  const expected = keys.mac(keyId, signedText('row', { seq, hash }))
  if (expected !== null && expected !== mac) {
    const words = `Row ${seq} (${record.id}) was not signed by this installation.`
    return { seq, id: record.id, kind: 'forged', words }
  }
  walk.signedFrom ??= seq
  if (expected === null) walk.underFormerKeys += 1
  else Object.assign(walk, { vouchedTo: seq, unsignedSince: 0 })
  return null
}

function breakAt(row: ChainedAudit, before: ChainedAudit | null, { noted, end, total }: Marks): AuditBreak | null {
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
  if (end?.seq === seq && end.hash !== hash) {
    return { ...found, kind: 'cut', words: `Row ${seq} (${record.id}) is another one than was signed as the end.` }
  }
  return null
}

/** What is wrong although every row up to the last one is sound. */
function breakBehind(walk: Walk, { noted, end, total }: Marks): AuditBreak | null {
  const last = walk.before?.seq ?? 0
  const found = { seq: last + 1, id: null }
  if (noted !== null && noted.seq > last) {
    const words = `The trail ends with row ${last}, and row ${noted.seq} was there when it was noted.`
    return { ...found, kind: 'cut', words }
  }
  if (end !== null && end.seq > last) {
    const words = `The trail ends with row ${last}, and row ${end.seq} was signed as its end.`
    return { ...found, kind: 'cut', words }
  }
  if (walk.checked < total) {
    return { ...found, kind: 'changed', words: `${total - walk.checked} rows carry something that is no number.` }
  }
  return last === 0 ? null : unsignedEnd(walk, end, last)
}

function unsignedEnd(
  { signedFrom, vouchedTo, unsignedSince }: Walk,
  end: AuditHead | null,
  last: number,
): AuditBreak | null {
  const found = { seq: last, id: null }
  if (signedFrom === null && end === null) {
    const words =
      'No row is signed. A running outbox signs the trail within seconds; if one ran before, somebody took the signatures away.'
    return { ...found, kind: 'unsigned', words }
  }
  if (signedFrom === null)
    return { ...found, kind: 'unsigned', words: 'An end was signed, and no row is signed any more.' }
  if (end === null) return { ...found, kind: 'cut', words: 'Rows are signed, and the signed end of the trail is gone.' }
  if (vouchedTo >= last) return null
  if (unsignedSince > 0) {
    const words = `${unsignedSince} rows behind row ${vouchedTo} are not signed. A running outbox of this version signs what fits.`
    return { ...found, kind: 'unsigned', words }
  }
  const words = `The rows after ${vouchedTo} are signed under a master key that was not given: name it in PAYMESH_MASTER_KEYS_OLD.`
  return { seq: vouchedTo + 1, id: null, kind: 'unknown_key', words }
}

/** The number under which a row is sound; null when it is under none. */
function otherNumber({ prevHash, hash, record }: ChainedAudit, total: number): number | null {
  // Rows behind removed ones carry higher numbers than there are rows.
  for (let seq = 1; seq <= total * 2; seq += 1) if (chainHash(seq, prevHash, record) === hash) return seq
  return null
}
