import type { AuditBreak } from '#shared/contracts/audit-progress.ts'
import { invalidField, invalidState } from '#shared/contracts/errors.ts'
import type { AuditRecord } from '#shared/ports/audit.ts'
import type { ChainedAudit } from '#shared/ports/audit-chain.ts'
import type { AuditMarks } from '#shared/ports/audit-marks.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import {
  type AcceptedStretch,
  type AnsweredBreak,
  type AuditDeps,
  highestVouched,
  readBreaks,
  signedBreaks,
} from './audit-breaks.ts'
import { linksBehind, readEnd, stepTo } from './audit-chain.ts'
import { type AuditWalk, continueWalk, NO_ROWS, newWalk, type PassedRows, passedRow, rowBreak } from './audit-walk.ts'
import { type VerifyAuditDeps, verifyAudit } from './verify-audit.ts'

/** Action of the rows that answer a break. */
export const ANSWER_ACTION = 'audit.break_acknowledged'

const BATCH = 1_000
/** Numbers above it were not given by this installation: behind one of them, no further number would be exact. */
const NUMBER_MAX = 2 ** 52

/** What a person accepted. */
export interface Acknowledgement {
  readonly answered: AuditBreak
  /** Rows accepted as they stand, from the first that does not fit to the last; 0 when only the end or documents were in question. */
  readonly rows: number
  /** How many of them do not fit, taken alone. */
  readonly misfits: number
  /** Documents without an audit row that were accepted. */
  readonly documents: readonly string[]
  /** Number of the row that records the answer; numbers before it that no row carries stay unused. */
  readonly seq: number
}

/**
 * Records a person's answer to everything that verification finds: the log as it stands is accepted, from the first break to its last
 * row, and so are at most 1,000 documents without a row. The answer is a signed row behind the log, above every number that was ever given;
 * from there on the log is verified as before, and a later change of an accepted row is a break again. Verifies the whole log.
 * Throws `INVALID_STATE` when there is nothing to answer, when two rows carry one number, a row has an invalid one, or none and does not
 * wait for one, and when the log changed meanwhile.
 */
export async function acknowledgeBreak(
  deps: VerifyAuditDeps & Uses<'clock'>,
  { actor, reason }: { readonly actor: string; readonly reason: string },
): Promise<Acknowledgement> {
  const { auditChain, auditKeys, clock, auditMarks } = deps
  const why = reason.trim()
  if (why === '') throw invalidField('reason', 'must not be empty')
  // Read before the log is: an answer that another person stores meanwhile refuses this one.
  const { record, value } = await readBreaks(deps)
  const { firstBreak, unrecorded, unchained } = await verifyAudit(deps, { since: null, onProgress: () => undefined })
  if (firstBreak === null) throw invalidState('The audit log is intact: there is nothing to acknowledge.')
  if (unchained.outside > 0 || (await auditChain.extent()).hasOthers) {
    throw invalidState(
      'Rows have an invalid number, or none and do not wait for one. Keep a copy, and move them out of audit_log.',
    )
  }
  const head = await auditChain.head()
  const { stretch, misfits, last } = await stretchOf(deps, record.answered)
  const tail = await auditChain.tail()
  const seq = Math.max(await highestVouched(deps), tail?.seq ?? 0, record.open?.reserved ?? 0) + 1
  if (!(seq <= NUMBER_MAX)) {
    throw invalidState(
      `Row ${tail?.seq} carries a number that no writer gave. Keep a copy, and move it out of audit_log.`,
    )
  }
  const at = clock.now()
  // The noticed one is the one that a person was told of.
  const { kind, seq: place, id, words } = record.open ?? firstBreak
  const answer: AnsweredBreak = { kind, seq: place, id, words, by: actor, at, reason: why, stretch }
  const row = answerRow(answer, { seq, documents: unrecorded.length, misfits })
  const links = linksBehind(tail, [row], auditKeys, seq)
  const next = { open: null, answered: [...record.answered, answer], accepted: [...record.accepted, ...unrecorded] }
  const step = {
    ...stepTo({ head, checkpoint: row, links }, auditKeys),
    breaks: { was: value, next: signedBreaks(auditKeys, next) },
  }
  const isEnd = tail?.seq === last?.seq && tail?.hash === last?.hash
  if (!isEnd || !(await auditChain.append(step))) {
    throw invalidState('The audit log changed meanwhile. No changes were made. Try again.')
  }
  await auditMarks.raise(seq)
  return { answered: { kind, seq: place, id, words }, rows: stretch?.rows ?? 0, misfits, documents: unrecorded, seq }
}

/**
 * Gives the row that records a restore its place above the mark outside of the store, so that the archive's earlier end is no break.
 * Run it before the first process of the restored installation starts. Returns false, and changes nothing, when no row waits under this
 * id or another writer extended the chain at the same moment.
 * Throws `AuditChainBroken` when the end of the archive's log differs from the signed one.
 */
export async function settleRestoredAudit(
  { auditChain, auditKeys, auditMarks }: AuditDeps,
  rowId: string,
): Promise<boolean> {
  const row = await auditChain.findWaiting(rowId)
  if (row === null) return false
  const unmarked: AuditMarks = { ...auditMarks, highest: () => Promise.resolve(null) }
  const { head, tail } = await readEnd({ auditChain, auditKeys, auditMarks: unmarked })
  const seq = Math.max(tail?.seq ?? 0, (await auditMarks.highest()) ?? 0) + 1
  const links = linksBehind(tail, [row], auditKeys, seq)
  if (!(await auditChain.append(stepTo({ head, checkpoint: null, links }, auditKeys)))) return false
  await auditMarks.raise(seq)
  return true
}

/** The rows from the first break on, as they stand, and the last row; `stretch` is null when every row is valid or accepted. */
async function stretchOf(
  { auditChain, auditKeys }: Uses<'auditChain' | 'auditKeys'>,
  answered: readonly AnsweredBreak[],
): Promise<{ readonly stretch: AcceptedStretch | null; readonly misfits: number; readonly last: AuditWalk['before'] }> {
  const walk = newWalk()
  // The end is not compared: it is answered with the rows.
  const rowsOnly = { ...auditChain, head: () => Promise.resolve(null) }
  const input = { answered, since: null, onProgress: () => undefined, shouldStop: () => false }
  const { total } = await continueWalk({ auditChain: rowsOnly, auditKeys }, walk, input)
  // Rows that were accepted and differ now are accepted again from their first on.
  const after = walk.within === null ? walk.before : walk.within.stretch.after
  let [passed, last, misfits]: [PassedRows, AuditWalk['before'], number] = [NO_ROWS, after, 0]
  let rows: readonly ChainedAudit[]
  do {
    rows = await auditChain.listChained(last, BATCH)
    for (const row of rows) {
      const now = passedRow(passed, last, row)
      if (now === null) {
        const what = 'Two rows carry this number, or it is not a number'
        throw invalidState(
          `Row ${row.seq} (${row.record.id}): ${what}. Keep a copy, and move the wrong row out of audit_log.`,
        )
      }
      if (rowBreak(row, last, auditKeys, total) !== null) misfits += 1
      passed = now
      last = { seq: row.seq, hash: row.hash, id: row.record.id }
    }
  } while (rows.length === BATCH)
  const stretch = passed.rows === 0 || last === null ? null : { after, last, ...passed }
  return { stretch, misfits, last }
}

function answerRow(
  { kind, seq: at, words, by, at: time, reason, stretch }: AnsweredBreak,
  { seq, documents, misfits }: { readonly seq: number; readonly documents: number; readonly misfits: number },
): AuditRecord {
  const rows = { rows: stretch?.rows ?? 0, last: stretch?.last.seq ?? null, digest: stretch?.digest ?? null, misfits }
  return {
    ...{ id: `${ANSWER_ACTION}:${seq}`, at: time, actor: by, action: ANSWER_ACTION },
    ...{ subject: 'installation', workspaceId: null, mode: null },
    detail: { kind, seq: at, words, ...rows, documents, reason },
  }
}
