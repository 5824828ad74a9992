import type {
  AuditChainRepository,
  AuditExtent,
  AuditHead,
  ChainedAudit,
  UnchainedAudits,
} from '#shared/ports/audit-chain.ts'
import type { AuditKeys } from '#shared/ports/secrets.ts'
import { CHAIN_START, chainHash, signedText } from './audit-chain.ts'

const BATCH = 1_000
/** Numbers tried on each side of a row that does not fit. */
const TRIED_AROUND = 10_000

/** The first place at which the audit log differs from what was written. */
export interface AuditBreak {
  /**
   * `removed`: a number is missing; `forked`: two rows carry one number, or a row was chained behind another row than its
   * predecessor; `moved`: a valid row under another number; `changed`: its content differs from what was chained; `forged`: its hashes
   * fit and its signature does not; `unsigned`: the newest rows, or all, carry no signature;
   * `unknown_key`: the newest rows are signed under a key that was not given; `cut`: the log ends before the place that was signed as
   * its end or recorded elsewhere, or has another row there.
   */
  readonly kind: 'removed' | 'forked' | 'moved' | 'changed' | 'forged' | 'unsigned' | 'unknown_key' | 'cut'
  readonly seq: number
  /** The row found there, if any. */
  readonly id: string | null
  /** One sentence for a person. */
  readonly words: string
}

/** The last link as recorded outside the store: a store restored to an earlier state is consistent in itself. */
export interface AuditHeadMark {
  readonly seq: number
  readonly hash: string
}

/** Result of verifying the whole log. */
export interface AuditVerdict {
  readonly intact: boolean
  /** Number of valid rows, up to the break if there is one. */
  readonly checked: number
  readonly firstBreak: AuditBreak | null
  /** The last valid link, to be recorded elsewhere; null while there is none. */
  readonly head: AuditHeadMark | null
  /**
   * First row that carries a signature. Rows before it were chained by a version without keys: anyone able to write to the store could
   * rewrite them until that row was signed, and nobody can since. Null while no row is signed.
   */
  readonly signedFrom: number | null
  /** Rows signed under keys that were not given; a later row under a known key vouches for them. */
  readonly underFormerKeys: number
  readonly unchained: UnchainedAudits
}

/** Dependencies of verification; it never writes. */
export interface VerifyAuditDeps {
  readonly chain: Pick<AuditChainRepository, 'listChained' | 'extent' | 'unchained' | 'head'>
  readonly keys: AuditKeys
}

/** How to verify. */
export interface VerifyAuditInput {
  readonly since: AuditHeadMark | null
  /** Called after every batch of rows. */
  onProgress(checked: number, total: number): void
}

/** State of a walk: everything that the check of the next row needs. */
export interface AuditWalk {
  /** The last valid row. */
  before: (AuditHeadMark & { readonly id: string }) | null
  checked: number
  signedFrom: number | null
  underFormerKeys: number
  /** The last row whose signature was verified. */
  vouchedTo: number
  /** Unsigned rows behind that one. */
  unsignedSince: number
}

/** Inputs of the comparison. */
interface Marks {
  readonly keys: AuditKeys
  readonly since: AuditHeadMark | null
  /** The signed end as it was before the walk began. */
  readonly end: AuditHead | null
  readonly extent: AuditExtent
}

/** A walk before the first row. */
export const newWalk = (): AuditWalk => ({
  ...{ before: null, checked: 0, signedFrom: null, underFormerKeys: 0, vouchedTo: 0, unsignedSince: 0 },
})

/**
 * Walks the audit log from its first row, computes every hash and every signature whose key is known, and ends at the first row that
 * was changed, removed, moved, forked or forged; then compares the end with the signed one. Rows that are not chained yet are
 * counted and are not a break; a running maintenance process chains them within seconds.
 */
export async function verifyAudit({ chain, keys }: VerifyAuditDeps, input: VerifyAuditInput): Promise<AuditVerdict> {
  const walk = newWalk()
  const { firstBreak } = await continueWalk({ chain, keys }, walk, { ...input, shouldStop: () => false })
  const { checked, signedFrom, underFormerKeys } = walk
  const unchained = await chain.unchained()
  return {
    intact: firstBreak === null,
    checked,
    firstBreak,
    head: headOf(walk),
    signedFrom,
    underFormerKeys,
    unchained,
  }
}

/** The last valid link of a walk. */
export const headOf = ({ before }: AuditWalk): AuditHeadMark | null =>
  before === null ? null : { seq: before.seq, hash: before.hash }

/** Result of a part of a walk; `atEnd` is false when `shouldStop` ended it before the last row. */
export interface WalkedPart {
  readonly firstBreak: AuditBreak | null
  readonly atEnd: boolean
  readonly total: number
}

/**
 * Continues a walk, which it changes, until a break, the end of the audit log, or `shouldStop` after a batch of 1,000 rows. Compares the
 * signed end when the walk reaches it.
 */
export async function continueWalk(
  {
    chain,
    keys,
  }: { readonly chain: Pick<AuditChainRepository, 'listChained' | 'extent' | 'head'>; readonly keys: AuditKeys },
  walk: AuditWalk,
  input: VerifyAuditInput & { shouldStop(): boolean },
): Promise<WalkedPart> {
  const marks: Marks = { keys, since: input.since, end: await chain.head(), extent: await chain.extent() }
  const total = marks.extent.last
  const badEnd = endBreak(marks)
  if (badEnd !== null) return { firstBreak: badEnd, atEnd: true, total }
  for (;;) {
    const last = walk.before
    const rows = await chain.listChained(last === null ? null : { seq: last.seq, id: last.id }, BATCH)
    for (const row of rows) {
      const firstBreak = breakAt(row, walk.before, marks) ?? signatureBreak(row, walk, marks)
      if (firstBreak !== null) return { firstBreak, atEnd: true, total }
      walk.before = { seq: row.seq, hash: row.hash, id: row.record.id }
      walk.checked += 1
    }
    input.onProgress(walk.checked, total)
    if (rows.length < BATCH) return { firstBreak: breakBehind(walk, marks), atEnd: true, total }
    if (input.shouldStop()) return { firstBreak: null, atEnd: false, total }
  }
}

/** The fault of the signed end itself. One under an unknown key proves nothing; the rows then report it. */
function endBreak({ end, keys }: Marks): AuditBreak | null {
  if (end === null) return null
  const mac = keys.mac(end.keyId, signedText('head', end))
  if (mac === null || mac === end.mac) return null
  return { kind: 'forged', seq: end.seq, id: null, words: 'The signed end of the audit log was changed.' }
}

/** Records what the row's signature proves, or returns the break. */
function signatureBreak(
  { seq, hash, keyId, mac, record }: ChainedAudit,
  walk: AuditWalk,
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

function breakAt(row: ChainedAudit, before: AuditWalk['before'], { since, end, extent }: Marks): AuditBreak | null {
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
    const other = otherNumber(row, extent.last)
    return other === null
      ? { ...found, kind: 'changed', words: `Row ${seq} (${record.id}) does not match its entry in the chain.` }
      : { ...found, kind: 'moved', words: `Row ${seq} (${record.id}) was chained as row ${other}.` }
  }
  if (prevHash !== (before?.hash ?? CHAIN_START)) {
    const words = `Row ${seq} (${record.id}) is not linked to the row before it.`
    return { ...found, kind: 'forked', words }
  }
  if (since?.seq === seq && since.hash !== hash) {
    return { ...found, kind: 'cut', words: `Row ${seq} (${record.id}) differs from the recorded checkpoint.` }
  }
  if (end?.seq === seq && end.hash !== hash) {
    return {
      ...found,
      kind: 'cut',
      words: `Row ${seq} (${record.id}) differs from the row that was signed as the end.`,
    }
  }
  return null
}

/** The break that shows only at the end, although every row up to the last one is valid. */
function breakBehind(walk: AuditWalk, { since, end, extent }: Marks): AuditBreak | null {
  const last = walk.before?.seq ?? 0
  const found = { seq: last + 1, id: null }
  if (since !== null && since.seq > last) {
    const words = `The audit log ends with row ${last}, but the recorded checkpoint is row ${since.seq}.`
    return { ...found, kind: 'cut', words }
  }
  if (end !== null && end.seq > last) {
    const words = `The audit log ends with row ${last}, but row ${end.seq} was signed as its end.`
    return { ...found, kind: 'cut', words }
  }
  if (extent.hasOthers) return { ...found, kind: 'changed', words: 'Rows have an invalid number.' }
  return last === 0 ? null : unsignedEnd(walk, end, last)
}

function unsignedEnd(
  { signedFrom, vouchedTo, unsignedSince }: AuditWalk,
  end: AuditHead | null,
  last: number,
): AuditBreak | null {
  const found = { seq: last, id: null }
  if (signedFrom === null && end === null) {
    const words =
      'No row is signed. A running maintenance process signs the audit log within seconds; if one was running before, someone removed the signatures.'
    return { ...found, kind: 'unsigned', words }
  }
  if (signedFrom === null) return { ...found, kind: 'unsigned', words: 'An end was signed, but no row is signed now.' }
  if (end === null)
    return { ...found, kind: 'cut', words: 'Rows are signed, but the signed end of the audit log is missing.' }
  if (vouchedTo >= last) return null
  if (unsignedSince > 0) {
    const words = `${unsignedSince} rows after row ${vouchedTo} are not signed. A running maintenance process of this version signs them if they are valid.`
    return { ...found, kind: 'unsigned', words }
  }
  const words = `The rows after ${vouchedTo} are signed under a master key that is not configured. Add it to PAYMESH_MASTER_KEYS_OLD.`
  return { seq: vouchedTo + 1, id: null, kind: 'unknown_key', words }
}

/** The number under which a row is valid; null if there is none. */
function otherNumber({ seq: here, prevHash, hash, record }: ChainedAudit, last: number): number | null {
  // Searches near its place, on both sides: a hash for each number of a long log would take minutes.
  const [from, to] = [Math.max(1, here - TRIED_AROUND), Math.min(last + TRIED_AROUND, here + TRIED_AROUND)]
  for (let seq = from; seq <= to; seq += 1) if (chainHash(seq, prevHash, record) === hash) return seq
  return null
}
