import type { BackupProgress } from '#shared/db/backup/archive-writer.ts'
import type { BackupEstimate } from '#shared/db/backup/estimate-backup.ts'

const MEGABYTE = 1_000_000

const megabytes = (bytes: number): string => `${Math.ceil(bytes / MEGABYTE)} MB`

/** `40 s`, `12 minutes` or `3 h 5 minutes`: as exact as an estimate is. */
export function roughly(seconds: number): string {
  if (seconds < 120) return `${Math.max(1, Math.ceil(seconds))} s`
  const minutes = Math.ceil(seconds / 60)
  return minutes < 120 ? `${minutes} minutes` : `${Math.floor(minutes / 60)} h ${minutes % 60} minutes`
}

/** What a back-up is about to do, and how long that takes about. */
export function estimateText({ documents, bytes, bytesPerSecond, seconds }: BackupEstimate): string {
  return `About ${documents} documents, ${megabytes(bytes)} before compression: about ${roughly(seconds)} at ${megabytes(bytesPerSecond)} per second.`
}

/** How far a back-up is, after `elapsedMs` of work. */
export function progressText(
  { collection, documents, bytes }: BackupProgress,
  expected: Pick<BackupEstimate, 'bytes'>,
  elapsedMs: number,
): string {
  const share = Math.min(1, bytes / Math.max(1, expected.bytes))
  // More than expected are documents that changed meanwhile.
  const left = share < 1 && bytes > 0 ? `, about ${roughly(((elapsedMs / 1_000) * (1 - share)) / share)} left` : ''
  return `${Math.floor(share * 100)} %: ${documents} documents, ${megabytes(bytes)}${left} (${collection})`
}
