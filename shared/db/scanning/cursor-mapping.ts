import { toDate, toMs } from '#shared/db/connection/dates.ts'
import type { ChainCursor, CursorRepository, DeadlineRelease, ScanTrouble } from '#shared/ports/scanning.ts'
import type { CursorDocument, StoredRelease, StoredTrouble } from './cursor-model.ts'

type CursorChange = Parameters<CursorRepository['advance']>[3]

/** The stored form of the fields that a change names; what it does not name is not in it. */
export function cursorChangeToDocument(change: CursorChange): Partial<CursorDocument> {
  const { time, headSeenAt, mempoolAt, advancedAt, atHeadAt, trouble, window, ...same } = change
  return {
    ...same,
    ...(time !== undefined && { time: toDate(time) }),
    ...(headSeenAt !== undefined && { headSeenAt: toDate(headSeenAt) }),
    ...(mempoolAt !== undefined && { mempoolAt: toDate(mempoolAt) }),
    ...(advancedAt !== undefined && { advancedAt: toDate(advancedAt) }),
    ...(atHeadAt !== undefined && { atHeadAt: toDate(atHeadAt) }),
    ...(trouble !== undefined && { trouble: trouble === null ? null : troubleToDocument(trouble) }),
    ...(window !== undefined && { window: copyWindow(window) }),
  }
}

/** The stored form of a whole cursor. */
export function cursorToDocument(cursor: ChainCursor): CursorDocument {
  const { id, lease, released, time, headSeenAt, mempoolAt, advancedAt, atHeadAt, trouble, window, ...same } = cursor
  return {
    _id: id,
    ...same,
    time: toDate(time),
    headSeenAt: toDate(headSeenAt),
    window: copyWindow(window),
    ...(mempoolAt !== undefined && { mempoolAt: toDate(mempoolAt) }),
    ...(advancedAt !== undefined && { advancedAt: toDate(advancedAt) }),
    ...(atHeadAt !== undefined && { atHeadAt: toDate(atHeadAt) }),
    ...(trouble !== undefined && { trouble: trouble === null ? null : troubleToDocument(trouble) }),
    ...(released !== undefined && { released: released === null ? null : releaseToDocument(released) }),
    lease: lease === null ? null : { owner: lease.owner, until: toDate(lease.until) },
    leaseEpoch: lease?.epoch ?? 0,
  }
}

/** A cursor as it was stored; fields that an older release did not write are absent. */
export function cursorFromDocument(stored: CursorDocument): ChainCursor {
  const { _id, time, headSeenAt, mempoolAt, advancedAt, atHeadAt, trouble, released, lease, leaseEpoch, ...same } =
    stored
  return {
    id: _id,
    ...same,
    time: toMs(time),
    headSeenAt: toMs(headSeenAt),
    // A document of the schema has null where a field was never written.
    ...(mempoolAt != null && { mempoolAt: toMs(mempoolAt) }),
    ...(advancedAt != null && { advancedAt: toMs(advancedAt) }),
    ...(atHeadAt != null && { atHeadAt: toMs(atHeadAt) }),
    ...(trouble !== undefined && { trouble: trouble === null ? null : troubleFromDocument(trouble) }),
    ...(released !== undefined && { released: released === null ? null : releaseFromDocument(released) }),
    lease: lease === null ? null : { owner: lease.owner, epoch: leaseEpoch, until: toMs(lease.until) },
  }
}

/** The stored form of a release. */
export function releaseToDocument({ through, at, ...same }: DeadlineRelease): StoredRelease {
  return { ...same, through: toDate(through), at: toDate(at) }
}

const releaseFromDocument = ({ through, at, ...same }: StoredRelease): DeadlineRelease => ({
  ...same,
  through: toMs(through),
  at: toMs(at),
})

const troubleToDocument = ({ firstAt, lastAt, ...same }: ScanTrouble): StoredTrouble => ({
  ...same,
  firstAt: toDate(firstAt),
  lastAt: toDate(lastAt),
})

const troubleFromDocument = ({ firstAt, lastAt, ...same }: StoredTrouble): ScanTrouble => ({
  ...same,
  firstAt: toMs(firstAt),
  lastAt: toMs(lastAt),
})

const copyWindow = (window: ChainCursor['window']): CursorDocument['window'] =>
  window.map(([height, hash]) => [height, hash])
