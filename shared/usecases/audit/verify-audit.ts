import type { AuditBreak, AuditHeadMark } from '#shared/contracts/audit-progress.ts'
import type { UnchainedAudits } from '#shared/ports/audit-chain.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { type AnsweredBreak, type AuditDeps, type ReadBreaks, readBreaks } from './audit-breaks.ts'
import { belowMark } from './audit-chain.ts'
import { continueWalk, headOf, newWalk, type WalkedPart } from './audit-walk.ts'
import { checkRecords, FIRST_RECORD, recordsBreak } from './check-records.ts'

/** Result of verifying the whole log. */
export interface AuditVerdict {
  readonly intact: boolean
  /** Number of valid or accepted rows, up to the break if there is one. */
  readonly checked: number
  readonly firstBreak: AuditBreak | null
  /** The last valid link, to be recorded elsewhere; null while there is none. */
  readonly head: AuditHeadMark | null
  /** Rows signed under keys that were not given; a later row under a known key vouches for them. */
  readonly underFormerKeys: number
  readonly unchained: UnchainedAudits
  /** Breaks that a person answered. */
  readonly answered: readonly AnsweredBreak[]
  /** Documents without an audit row that nobody accepted, as `kind:id`; at most 1,000. */
  readonly unrecorded: readonly string[]
}

/** Dependencies of verification; it never writes. */
export type VerifyAuditDeps = AuditDeps & Uses<'recordedDocuments'>

/** How to verify. */
export interface VerifyAuditInput {
  readonly since: AuditHeadMark | null
  /** Called after every batch of rows. */
  onProgress(checked: number, total: number): void
}

/**
 * Walks the audit log from its first row, computes every hash and every signature whose key is known, and ends at the first row that
 * was changed, removed, moved, forked, forged or not signed; then compares the end with the signed one and with the mark outside of the
 * store, and every account, key, wallet, refund and the like with its row. A break that a process noticed counts until a person answers it.
 * Rows that are not chained yet are counted and are not a break; a running maintenance process chains them within seconds.
 */
export async function verifyAudit(deps: VerifyAuditDeps, input: VerifyAuditInput): Promise<AuditVerdict> {
  const beside = await readBeside(deps)
  const { answered, accepted } = beside.breaks.record
  const walk = newWalk()
  const walked = await continueWalk(deps, walk, { ...input, answered, shouldStop: () => false })
  const unchained = await deps.auditChain.unchained()
  const { missing } = await checkRecords(deps.recordedDocuments, FIRST_RECORD, () => false)
  const unrecorded = missing.filter((one) => !accepted.includes(one))
  const firstBreak = firstBreakOf(walked, beside, { unchained, unrecorded })
  const { checked, underFormerKeys } = walk
  return {
    ...{ intact: firstBreak === null, checked, firstBreak, head: headOf(walk), underFormerKeys },
    ...{ unchained, answered, unrecorded },
  }
}

/** What is stored beside the rows and has to agree with them. */
export interface BesideRows {
  readonly mark: number | null
  readonly breaks: ReadBreaks
}

/** Reads it; do so before the rows, which may only grow afterwards. */
export async function readBeside(deps: AuditDeps): Promise<BesideRows> {
  return { mark: await deps.auditMarks.highest(), breaks: await readBreaks(deps) }
}

/** The first break: of the rows, of the record of breaks, one that waits for its answer, of the end, of rows and documents beside the chain. */
export function firstBreakOf(
  { firstBreak, total }: WalkedPart,
  { mark, breaks }: BesideRows,
  { unchained, unrecorded }: Pick<AuditVerdict, 'unchained' | 'unrecorded'>,
): AuditBreak | null {
  if (firstBreak !== null) return firstBreak
  if (breaks.fault !== null) return breaks.fault
  const { open } = breaks.record
  if (open !== null) {
    const { kind, seq, id, noticedAt } = open
    const words = `${open.words} Noticed at ${new Date(noticedAt).toISOString()} and not answered yet.`
    return { kind, seq, id, words }
  }
  if (mark !== null && mark > total) return belowMark(total, mark)
  if (unchained.outside > 0) {
    const words = `${unchained.outside} rows are neither part of the chain nor wait for it; Paymesh writes no such rows.`
    return { kind: 'outside', seq: 0, id: null, words }
  }
  return recordsBreak(unrecorded)
}
