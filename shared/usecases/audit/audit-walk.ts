import { createHash } from 'node:crypto'
import type { AuditBreak, AuditHeadMark } from '#shared/contracts/audit-progress.ts'
import type { AuditExtent, AuditHead, ChainedAudit } from '#shared/ports/audit-chain.ts'
import type { AuditKeys } from '#shared/ports/secrets.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import type { AcceptedStretch, AnsweredBreak } from './audit-breaks.ts'
import { CHAIN_START, chainHash, signedText } from './audit-chain-text.ts'
import { canonicalJson } from './canonical-json.ts'

const BATCH = 1_000
/** Numbers tried on each side of a row that does not fit. */
const TRIED_AROUND = 10_000

/** State of a walk: everything that the check of the next row needs. */
export interface AuditWalk {
  /** The last valid or accepted row. */
  before: (AuditHeadMark & { readonly id: string }) | null
  checked: number
  underFormerKeys: number
  /** The last row whose signature was verified. */
  vouchedTo: number
  /** The accepted rows that the walk is among, and the digest of those that it passed. */
  within: { readonly stretch: AcceptedStretch; readonly passed: PassedRows } | null
}

/** Rows as they stand, whatever they are. */
export interface PassedRows {
  readonly rows: number
  readonly digest: string
}

/** How to walk. */
export interface WalkInput {
  readonly answered: readonly AnsweredBreak[]
  readonly since: AuditHeadMark | null
  /** Called after every batch of rows. */
  onProgress(checked: number, total: number): void
  shouldStop(): boolean
}

/** Inputs of the comparison. */
interface Marks {
  readonly auditKeys: AuditKeys
  readonly answered: readonly AnsweredBreak[]
  readonly since: AuditHeadMark | null
  /** The signed end as it was before the walk began. */
  readonly end: AuditHead | null
  readonly extent: AuditExtent
}

/** Result of a part of a walk; `atEnd` is false when `shouldStop` ended it before the last row. */
export interface WalkedPart {
  readonly firstBreak: AuditBreak | null
  readonly atEnd: boolean
  /** Number of the last row. */
  readonly total: number
}

/** A walk before the first row. */
export const newWalk = (): AuditWalk => ({
  ...{ before: null, checked: 0, underFormerKeys: 0, vouchedTo: 0, within: null },
})

/** The last valid link of a walk. */
export const headOf = ({ before }: AuditWalk): AuditHeadMark | null =>
  before === null ? null : { seq: before.seq, hash: before.hash }

/**
 * Continues a walk, which it changes, until a break that nobody answered, the end of the audit log, or `shouldStop` after a batch of
 * 1,000 rows. Compares the signed end when the walk reaches it.
 */
export async function continueWalk(
  { auditChain, auditKeys }: Uses<'auditChain' | 'auditKeys'>,
  walk: AuditWalk,
  input: WalkInput,
): Promise<WalkedPart> {
  const { answered, since } = input
  const marks: Marks = { auditKeys, answered, since, end: await auditChain.head(), extent: await auditChain.extent() }
  const total = marks.extent.last
  const badEnd = endBreak(marks)
  if (badEnd !== null) return { firstBreak: badEnd, atEnd: true, total }
  for (;;) {
    const last = walk.before
    const rows = await auditChain.listChained(last === null ? null : { seq: last.seq, id: last.id }, BATCH)
    for (const row of rows) {
      const firstBreak = step(row, walk, marks)
      if (firstBreak !== null) return { firstBreak, atEnd: true, total }
    }
    input.onProgress(walk.checked, total)
    if (rows.length < BATCH) return { firstBreak: breakBehind(walk, marks), atEnd: true, total }
    if (input.shouldStop()) return { firstBreak: null, atEnd: false, total }
  }
}

/** The digest of further rows as they stand; null when they are not in the order of their numbers. */
export function passedRow(passed: PassedRows, before: AuditWalk['before'], row: ChainedAudit): PassedRows | null {
  if (!Number.isSafeInteger(row.seq) || row.seq <= (before?.seq ?? 0)) return null
  const digest = createHash('sha256')
    .update(canonicalJson({ before: passed.digest, row }))
    .digest('hex')
  return { rows: passed.rows + 1, digest }
}

/** Before the first of such rows. */
export const NO_ROWS: PassedRows = { rows: 0, digest: '' }

/** The fault of a row, taken alone and behind the one before it; null for a valid one. */
export function rowBreak(
  row: ChainedAudit,
  before: AuditWalk['before'],
  auditKeys: AuditKeys,
  last: number,
): AuditBreak | null {
  return linkBreak(row, before, last) ?? signatureBreak(row, auditKeys)
}

/** Checks one row and moves the walk behind it, or returns the break that nobody answered. */
function step(row: ChainedAudit, walk: AuditWalk, marks: Marks): AuditBreak | null {
  const recorded = recordedBreak(row, marks)
  if (walk.within !== null) return recorded ?? stepWithin(row, walk, walk.within)
  const found = rowBreak(row, walk.before, marks.auditKeys, marks.extent.last)
  if (found === null && recorded !== null) return recorded
  if (found === null) {
    const isKnown = marks.auditKeys.mac(row.keyId, '') !== null
    if (isKnown) walk.vouchedTo = row.seq
    else walk.underFormerKeys += 1
    pass(row, walk)
    return null
  }
  // Of two answers about the same place the later one holds.
  const stretch = marks.answered.findLast(
    (one) => one.stretch !== null && isSame(one.stretch.after, walk.before),
  )?.stretch
  if (stretch === undefined || stretch === null) return found
  return stepWithin(row, walk, { stretch, passed: NO_ROWS })
}

function stepWithin(
  row: ChainedAudit,
  walk: AuditWalk,
  { stretch, passed }: NonNullable<AuditWalk['within']>,
): AuditBreak | null {
  const now = passedRow(passed, walk.before, row)
  const isOver = now?.rows === stretch.rows
  if (now === null || (isOver && now.digest !== stretch.digest)) {
    const words = `The rows from ${(stretch.after?.seq ?? 0) + 1} to ${stretch.last.seq} differ from those that were accepted.`
    return { kind: 'changed', seq: row.seq, id: row.record.id, words }
  }
  walk.within = isOver ? null : { stretch, passed: now }
  pass(row, walk)
  return null
}

function pass(row: ChainedAudit, walk: AuditWalk): void {
  walk.before = { seq: row.seq, hash: row.hash, id: row.record.id }
  walk.checked += 1
}

const isSame = (one: AuditHeadMark | null, other: AuditHeadMark | null): boolean =>
  one?.seq === other?.seq && one?.hash === other?.hash

/** The fault of the signed end itself. One under an unknown key proves nothing; the rows then report it. */
function endBreak({ end, auditKeys }: Marks): AuditBreak | null {
  if (end === null) return null
  const mac = auditKeys.mac(end.keyId, signedText('head', end))
  if ((mac === null && end.keyId !== '') || mac === end.mac) return null
  return { kind: 'forged', seq: end.seq, id: null, words: 'The signed end of the audit log was changed.' }
}

function signatureBreak({ seq, hash, keyId, mac, record }: ChainedAudit, auditKeys: AuditKeys): AuditBreak | null {
  const found = { seq, id: record.id }
  if (mac === '' || keyId === '') {
    return { ...found, kind: 'unsigned', words: `Row ${seq} (${record.id}) carries no signature.` }
  }
  const expected = auditKeys.mac(keyId, signedText('row', { seq, hash }))
  if (expected === null || expected === mac) return null
  return { ...found, kind: 'forged', words: `Row ${seq} (${record.id}) was not signed by this installation.` }
}

/**
 * A number may be left out where the row behind the gap is linked to the row before it: nobody without the key can make such a row.
 * The writer does so behind a restore and behind a break that was answered.
 */
function linkBreak(row: ChainedAudit, before: AuditWalk['before'], last: number): AuditBreak | null {
  const { seq, prevHash, hash, record } = row
  const expected = (before?.seq ?? 0) + 1
  const isLinked = prevHash === (before?.hash ?? CHAIN_START)
  const found = { seq, id: record.id }
  if (seq < expected) return { ...found, kind: 'forked', words: `Two rows carry number ${seq}.` }
  if (seq !== expected && !isLinked) {
    const words = `Row ${expected} is missing: the next one is ${seq} (${record.id}).`
    return { kind: 'removed', seq: expected, id: null, words }
  }
  if (chainHash(seq, prevHash, record) !== hash) {
    const other = otherNumber(row, last)
    return other === null
      ? { ...found, kind: 'changed', words: `Row ${seq} (${record.id}) does not match its entry in the chain.` }
      : { ...found, kind: 'moved', words: `Row ${seq} (${record.id}) was chained as row ${other}.` }
  }
  if (isLinked) return null
  return { ...found, kind: 'forked', words: `Row ${seq} (${record.id}) is not linked to the row before it.` }
}

function recordedBreak({ seq, hash, record }: ChainedAudit, { since, end }: Marks): AuditBreak | null {
  const found = { kind: 'cut', seq, id: record.id } as const
  if (since?.seq === seq && since.hash !== hash) {
    return { ...found, words: `Row ${seq} (${record.id}) differs from the recorded checkpoint.` }
  }
  if (end?.seq === seq && end.hash !== hash) {
    return { ...found, words: `Row ${seq} (${record.id}) differs from the row that was signed as the end.` }
  }
  return null
}

/** The break that shows only at the end, although every row up to the last one is valid. */
function breakBehind({ before, vouchedTo, within }: AuditWalk, { since, end, extent }: Marks): AuditBreak | null {
  const last = before?.seq ?? 0
  const cut = (what: string): AuditBreak => ({
    ...{ kind: 'cut', seq: last + 1, id: null, words: `The audit log ends with row ${last}, but ${what}.` },
  })
  if (within !== null) return cut(`rows up to ${within.stretch.last.seq} were accepted`)
  if (since !== null && since.seq > last) return cut(`the recorded checkpoint is row ${since.seq}`)
  if (end !== null && end.seq > last) return cut(`row ${end.seq} was signed as its end`)
  if (extent.hasOthers) return { kind: 'changed', seq: last + 1, id: null, words: 'Rows have an invalid number.' }
  if (last === 0) return null
  if (end === null) return cut('no end was signed')
  if (vouchedTo >= last) return null
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
