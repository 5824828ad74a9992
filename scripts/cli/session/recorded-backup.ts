import type { ArchiveTarget } from '#scripts/backup/archive-target.ts'
import { type TakenBackup, takeBackup } from '#scripts/backup/take-backup.ts'
import type { VerifiedArchive } from '#scripts/backup/verify-backup.ts'
import { newestLink } from '#scripts/backup/verify-following.ts'
import { progressPrinter } from '#scripts/cli/text/progress-printer.ts'
import { versionHere } from '#scripts/service/version-here.ts'
import type { BackupProgress } from '#shared/db/backup/archive-writer.ts'
import { readChain } from '#shared/db/backup/change-chain.ts'
import { type BackupEstimate, estimateBackup } from '#shared/db/backup/estimate-backup.ts'
import { storeMarksCopy } from '#shared/db/restore/marks-copy.ts'
import { readRestoreState } from '#shared/db/restore/restore-state.ts'
import type { AuditRecord } from '#shared/ports/audit.ts'
import type { ArchiveSecret } from '#shared/runtime/secrets/archive-cipher.ts'
import { readMarks } from '#shared/usecases/marks/mark-records.ts'
import { markText } from '#shared/usecases/marks/mark-text.ts'
import { actorName } from './actor.ts'
import type { BackupStore } from './backup-store.ts'

/** Where an archive goes, by which name, and its secret. */
export interface BackupOrder {
  readonly name: string
  readonly target: ArchiveTarget
  readonly secret: ArchiveSecret
  /** Ends the back-up. */
  readonly signal: AbortSignal
}

/** Number of documents; collections that could not be counted add nothing. */
export const total = (counts: Readonly<Record<string, number | null>>): number =>
  Object.values(counts).reduce<number>((sum, count) => sum + (count ?? 0), 0)

const auditOf = (
  { clock, random }: Pick<BackupStore, 'clock' | 'random'>,
  action: 'backup.started' | 'backup.ended' | 'backup.verified',
  subject: string,
  detail: AuditRecord['detail'],
): AuditRecord => {
  const id = action === 'backup.verified' ? `${action}:${random.uuid()}` : `${action}:${subject}`
  return { id, at: clock.now(), action, subject, workspaceId: null, mode: null, actor: actorName(), detail }
}

/**
 * Makes a back-up between two audit rows, since it takes all data out of the installation, and reports on stderr. Without the first row nothing is
 * read; the second gives the number of documents and bytes. A back-up that fails or is killed leaves the first row alone. Throws for a
 * database that holds the part that an interrupted restore wrote.
 */
export async function recordedBackup(
  store: BackupStore,
  { name, target, secret, signal }: BackupOrder,
): Promise<TakenBackup> {
  const { db, random, exports } = store
  if ((await readRestoreState(db))?.state === 'writing')
    throw new Error(
      `a restore into database ${db.name} did not end: a back-up of it would hold a part of the data only`,
    )
  const estimate = await estimateBackup(db)
  process.stderr.write(`${estimateText(estimate)}\n`)
  const begun = performance.now()
  const tell = progressPrinter()
  const id = random.uuid()
  await exports.record(auditOf(store, 'backup.started', id, { file: name }))
  await copyMarks(store)
  const chain = await readChain(db)
  const { life } = await store.installationLife.read()
  const taken = await takeBackup(db, {
    ...{ target, id, secret, signal, version: versionHere() },
    about: chain === null ? {} : { life, chain: chain.link.chain, number: chain.link.number },
    onProgress: (progress) => tell(progressText(progress, estimate, performance.now() - begun)),
  })
  await exports.record(auditOf(store, 'backup.ended', id, { documents: total(taken.counts), bytes: taken.bytes }))
  return taken
}

/** Every archive holds what the places outside the database say was issued, so that a lost place can be made again from it. */
async function copyMarks({ db, installationLife, markPlaces, markKeys }: BackupStore): Promise<void> {
  const record = await installationLife.read()
  const { marks } = await readMarks(markPlaces, record, 'all', markKeys)
  if (marks.size === 0) return
  const texts = [...marks.values()].map((mark) => [mark.field, markText(record, mark, markKeys)])
  await storeMarksCopy(db, record.life, Object.fromEntries(texts))
}

/** Throws for a verified back-up that is not recorded, because it holds secrets that cannot be opened. */
export function requireRecordable({ sealed }: Pick<VerifiedArchive, 'sealed'>): void {
  if (sealed.opened < sealed.total)
    throw new Error(
      `${sealed.total - sealed.opened} of ${sealed.total} sealed values cannot be opened: it is not recorded`,
    )
}

/**
 * Records that an archive was verified: `doctor` and the alert about back-ups count from its moment. Throws for one that is not recordable, or of
 * another installation.
 */
export async function recordVerified(store: BackupStore, archive: VerifiedArchive): Promise<void> {
  requireRecordable(archive)
  const { backupId, takenAt } = archive
  const verified = {
    backupId,
    takenAt: Date.parse(takenAt),
    verifiedAt: store.clock.now(),
    chain: newestLink(archive)?.chain ?? null,
  }
  await store.verifiedBackups.record(verified, auditOf(store, 'backup.verified', backupId, { taken_at: takenAt }))
}

const MEGABYTE = 1_000_000

const megabytes = (bytes: number): string => `${Math.ceil(bytes / MEGABYTE)} MB`

/** `40 s`, `12 minutes` or `3 h 5 minutes`: as exact as an estimate is. */
function roughly(seconds: number): string {
  if (seconds < 120) return `${Math.max(1, Math.ceil(seconds))} s`
  const minutes = Math.ceil(seconds / 60)
  return minutes < 120 ? `${minutes} minutes` : `${Math.floor(minutes / 60)} h ${minutes % 60} minutes`
}

/** What a back-up is about to do, and how long that takes about. */
function estimateText({ documents, bytes, bytesPerSecond, seconds }: BackupEstimate): string {
  return `About ${documents} documents, ${megabytes(bytes)} before compression: about ${roughly(seconds)} at ${megabytes(bytesPerSecond)} per second.`
}

/** How far a back-up is, after `elapsedMs` of work. */
function progressText(
  { collection, documents, bytes }: BackupProgress,
  expected: Pick<BackupEstimate, 'bytes'>,
  elapsedMs: number,
): string {
  const share = Math.min(1, bytes / Math.max(1, expected.bytes))
  // More than expected are documents that changed meanwhile.
  const left = share < 1 && bytes > 0 ? `, about ${roughly(((elapsedMs / 1_000) * (1 - share)) / share)} left` : ''
  return `${Math.floor(share * 100)} %: ${documents} documents, ${megabytes(bytes)}${left} (${collection})`
}
