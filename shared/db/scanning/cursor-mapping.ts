import { toDate, toMs } from '#shared/db/connection/dates.ts'
import type {
  ChainCursor,
  CursorRepository,
  DeadlineRelease,
  LookPlace,
  Looks,
  ScanTrouble,
} from '#shared/ports/cursors.ts'
import type { CursorDocument, StoredLook, StoredLooks, StoredRelease, StoredTrouble } from './cursor-model.ts'

type CursorChange = Parameters<CursorRepository['advance']>[3]

/** The stored form of the fields in a change; others are left out. */
export function cursorChangeToDocument(change: CursorChange): Partial<CursorDocument> {
  const { time, headSeenAt, mempoolAt, advancedAt, atHeadAt, trouble, window, missingTokens, ...others } = change
  const { looks, headTime, ...same } = others
  return {
    ...same,
    ...(time !== undefined && { time: toDate(time) }),
    ...(headSeenAt !== undefined && { headSeenAt: toDate(headSeenAt) }),
    ...(mempoolAt !== undefined && { mempoolAt: toDate(mempoolAt) }),
    ...(advancedAt !== undefined && { advancedAt: toDate(advancedAt) }),
    ...(atHeadAt !== undefined && { atHeadAt: toDate(atHeadAt) }),
    ...(trouble !== undefined && { trouble: trouble === null ? null : troubleToDocument(trouble) }),
    ...(window !== undefined && { window: copyWindow(window) }),
    ...(missingTokens !== undefined && { missingTokens: [...missingTokens] }),
    ...(looks !== undefined && { looks: looksToDocument(looks) }),
    ...(headTime !== undefined && { headTime: toDate(headTime) }),
  }
}

/** The stored form of a whole cursor. */
export function cursorToDocument(cursor: ChainCursor): CursorDocument {
  const {
    id,
    lease,
    released,
    time,
    headSeenAt,
    mempoolAt,
    advancedAt,
    atHeadAt,
    trouble,
    window,
    missingTokens,
    looks,
    headTime,
    ...same
  } = cursor
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
    ...(missingTokens !== undefined && { missingTokens: [...missingTokens] }),
    ...(looks !== undefined && { looks: looksToDocument(looks) }),
    ...(headTime !== undefined && { headTime: toDate(headTime) }),
    lease: lease === null ? null : { owner: lease.owner, until: toDate(lease.until) },
    leaseEpoch: lease?.epoch ?? 0,
  }
}

/** A cursor as it was stored; fields that an older release did not write are absent. */
export function cursorFromDocument(stored: CursorDocument): ChainCursor {
  const { _id, time, headSeenAt, mempoolAt, advancedAt, atHeadAt, trouble, released, lease, leaseEpoch, ...others } =
    stored
  const { looks, headTime, ...same } = others
  return {
    id: _id,
    ...same,
    time: toMs(time),
    headSeenAt: toMs(headSeenAt),
    // The schema reads a field that was never written as null.
    ...(mempoolAt != null && { mempoolAt: toMs(mempoolAt) }),
    ...(advancedAt != null && { advancedAt: toMs(advancedAt) }),
    ...(atHeadAt != null && { atHeadAt: toMs(atHeadAt) }),
    ...(trouble !== undefined && { trouble: trouble === null ? null : troubleFromDocument(trouble) }),
    ...(released !== undefined && { released: released === null ? null : releaseFromDocument(released) }),
    ...(looks != null && { looks: looksFromDocument(looks) }),
    ...(headTime != null && { headTime: toMs(headTime) }),
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

const lookToDocument = ({ time, at, ...same }: LookPlace): StoredLook => ({
  ...same,
  time: toDate(time),
  at: toDate(at),
})
const lookFromDocument = ({ time, at, ...same }: StoredLook): LookPlace => ({ ...same, time: toMs(time), at: toMs(at) })

const looksToDocument = (looks: Looks | null): StoredLooks | null =>
  looks === null ? null : { ended: lookToDocument(looks.ended), all: lookToDocument(looks.all) }

const looksFromDocument = ({ ended, all }: StoredLooks): Looks => ({
  ended: lookFromDocument(ended),
  all: lookFromDocument(all),
})

const copyWindow = (window: ChainCursor['window']): CursorDocument['window'] =>
  window.map(([height, hash]) => [height, hash])
