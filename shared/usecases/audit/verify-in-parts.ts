import type { AuditBreak, AuditHeadMark, AuditProgress } from '#shared/contracts/audit-progress.ts'
import type { SignedText } from '#shared/ports/audit-chain.ts'
import type { AuditKeys } from '#shared/ports/secrets.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { type AuditDeps, noticeBreak, signature } from './audit-breaks.ts'
import { type AuditWalk, continueWalk, headOf, newWalk } from './audit-walk.ts'
import { canonicalJson } from './canonical-json.ts'
import { checkRecords, FIRST_RECORD, NAMED_MAX, type RecordsPosition } from './check-records.ts'
import { type BesideRows, firstBreakOf, readBeside, type VerifyAuditDeps } from './verify-audit.ts'

/** After this time verification begins at the first row again: verified rows may have been changed since. */
const WHOLE_EVERY_MS = 7 * 86_400_000
/** Documents are compared with their audit rows this often. */
const RECORDS_EVERY_MS = 3_600_000
/** Batches behind the last row of the job that one request verifies itself. */
const REQUEST_BATCHES = 5

/** Dependencies of verifying in parts. */
export type VerifyInPartsDeps = VerifyAuditDeps & Uses<'clock'>

/** How far the documents are compared with their audit rows. */
interface KeptRecords {
  readonly startedAt: number
  /** Null when the comparison is complete. */
  readonly next: RecordsPosition | null
  readonly missing: readonly string[]
  /** Result of the comparison before this one. */
  readonly before: readonly string[]
}

/** State stored between two parts. */
interface StoredProgress {
  readonly walk: AuditWalk
  readonly startedAt: number
  readonly records: KeptRecords
  /** Answered breaks at the beginning: a further answer accepts rows that were verified before, or their absence. */
  readonly answers: number
}

/**
 * Verifies the audit log behind the last verified row, and begins at the first row again once a week; compares documents with their audit
 * rows once an hour. Signs and stores its progress after each part, and ignores stored progress that this installation did not sign.
 * Stores the break that it finds. Run it in one process at a time; two do the same work twice.
 */
export async function verifyNextPart(deps: VerifyInPartsDeps, shouldStop: () => boolean): Promise<AuditProgress> {
  const now = deps.clock.now()
  const stored = await readKept(deps)
  const beside = await readBeside(deps)
  const answers = beside.breaks.record.answered.length
  const isGood = stored !== null && stored.answers === answers && now - stored.startedAt < WHOLE_EVERY_MS
  const begun = isGood ? stored : { walk: newWalk(), startedAt: now, answers }
  const kept = { ...begun, records: await nextRecords(deps, stored?.records ?? null, shouldStop) }
  const progress = await goOn(deps, kept, beside, { since: null, shouldStop })
  if (progress.firstBreak !== null) await noticeBreak(deps, progress.firstBreak)
  await deps.auditChain.saveVerified(signed(deps.auditKeys, kept))
  return progress
}

/**
 * How far the audit log is verified, and whether `since` is still part of it. Verifies at most 5,000 rows behind the last one of the
 * job, and stores nothing.
 */
export async function readVerification(deps: VerifyInPartsDeps, since: AuditHeadMark | null): Promise<AuditProgress> {
  const stored = await readKept(deps)
  const beside = await readBeside(deps)
  const answers = beside.breaks.record.answered.length
  const records = stored?.records ?? { startedAt: 0, next: null, missing: [], before: [] }
  const isGood = stored !== null && stored.answers === answers
  const kept = isGood ? stored : { walk: newWalk(), startedAt: deps.clock.now(), records, answers }
  let batches = 0
  const shouldStop = (): boolean => {
    batches += 1
    return batches >= REQUEST_BATCHES
  }
  const progress = await goOn(deps, kept, beside, { since, shouldStop })
  const cut = since === null ? null : await cutAt(deps, since)
  const firstBreak = progress.firstBreak ?? cut
  return { ...progress, firstBreak, intact: firstBreak === null, startedAt: stored?.startedAt ?? null }
}

async function nextRecords(
  { recordedDocuments, clock }: VerifyInPartsDeps,
  kept: KeptRecords | null,
  shouldStop: () => boolean,
): Promise<KeptRecords> {
  const now = clock.now()
  if (kept !== null && kept.next === null && now - kept.startedAt < RECORDS_EVERY_MS) return kept
  const isNew = kept === null || kept.next === null
  const { startedAt, missing, before } = isNew ? { startedAt: now, missing: [], before: kept?.missing ?? [] } : kept
  const found = await checkRecords(recordedDocuments, kept?.next ?? FIRST_RECORD, shouldStop)
  const all = [...missing, ...found.missing].slice(0, NAMED_MAX)
  return { startedAt, next: found.next, missing: all, before: found.next === null ? [] : before }
}

async function goOn(
  deps: VerifyInPartsDeps,
  { walk, startedAt, records }: StoredProgress,
  beside: BesideRows,
  { since, shouldStop }: { readonly since: AuditHeadMark | null; shouldStop(): boolean },
): Promise<AuditProgress> {
  const { answered, accepted } = beside.breaks.record
  const verified = headOf(walk)
  // A walk reads forward only, and would not find that verified rows were removed.
  const lost = verified === null ? null : await cutAt(deps, verified)
  const part = await continueWalk(deps, walk, { since, answered, onProgress: () => undefined, shouldStop })
  const unchained = await deps.auditChain.unchained()
  const unrecorded = [...new Set([...records.missing, ...records.before])].filter((one) => !accepted.includes(one))
  const firstBreak = lost ?? firstBreakOf(part, beside, { unchained, unrecorded })
  return {
    ...{ intact: firstBreak === null, complete: part.atEnd && firstBreak === null, checked: walk.checked },
    ...{
      total: part.total,
      firstBreak,
      head: headOf(walk),
      startedAt,
      waiting: unchained.waiting,
      answered: [...answered],
    },
  }
}

/** The break when the row with this number and hash is missing or was replaced. */
export async function cutAt(
  { auditChain }: Uses<'auditChain'>,
  mark: AuditHeadMark,
  words = `Row ${mark.seq} was part of the audit log; it is missing or was replaced.`,
): Promise<AuditBreak | null> {
  const [row] = await auditChain.listChained({ seq: mark.seq, id: '' }, 1)
  if (row?.seq === mark.seq && row.hash === mark.hash) return null
  return { kind: 'cut', seq: mark.seq, id: row?.seq === mark.seq ? row.record.id : null, words }
}

/** The stored progress; null unless this installation signed it. */
async function readKept({ auditChain, auditKeys }: AuditDeps): Promise<StoredProgress | null> {
  const stored = await auditChain.verified()
  if (stored === null || auditKeys.mac(stored.keyId, signedText(stored.text)) !== stored.mac) return null
  return JSON.parse(stored.text) as StoredProgress
}

function signed(auditKeys: AuditKeys, kept: StoredProgress): SignedText {
  const text = JSON.stringify(kept)
  return { text, keyId: auditKeys.keyId, mac: signature(auditKeys, signedText(text)) }
}

/** Differs from every text that the chain's writer signs. */
const signedText = (text: string): string => canonicalJson({ audit: 'verified', text })
