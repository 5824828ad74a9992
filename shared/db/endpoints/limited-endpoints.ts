import type { Database } from '#shared/db/connection/connect.ts'
import { toDate, toMs } from '#shared/db/connection/dates.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import { type LimitedBy, WEBHOOK_ENDPOINTS } from './endpoint-model.ts'

/** An endpoint without a report for this long has free places again, or no process that serves it. */
const FRESH_MS = 30_000
/** Reports further apart belong to two episodes. */
const EPISODE_GAP_MS = 3_600_000
/** More are counted with those that a free place would help. */
const LIMITED_MAX = 1_000
/** Index of the endpoints that were ever reported. */
const LIMITED_INDEX = 'endpoint_limited'

/** An endpoint that has due deliveries and as many requests in flight as it takes. */
export interface LimitedEndpoint extends LimitedBy {
  readonly id: string
  readonly workspaceId: string
  readonly url: string
  /** When the episode began. */
  readonly since: Ms
}

/** Endpoints at their own limit, as the processes that send to them report it; times are the store's. */
export function createLimitedEndpoints(db: Database) {
  const endpoints = db.collection(WEBHOOK_ENDPOINTS)
  return {
    /** Reports what one process measured; an endpoint that is gone is skipped. */
    report: async (measured: ReadonlyMap<string, LimitedBy>): Promise<void> => {
      if (measured.size === 0) return
      const isSameEpisode = { $gt: ['$limitedAt', { $subtract: ['$$NOW', EPISODE_GAP_MS] }] }
      const limitedSince = { $cond: [isSameEpisode, '$limitedSince', '$$NOW'] }
      const changes = [...measured].map(([_id, limitedBy]) => ({
        updateOne: { filter: { _id }, update: [{ $set: { limitedAt: '$$NOW', limitedSince, limitedBy } }] },
      }))
      await endpoints.bulkWrite(changes, { ordered: false })
    },
    /** Those reported within the last half minute before `at`, at most a thousand, latest first. */
    list: async (at: Ms): Promise<readonly LimitedEndpoint[]> => {
      const found = await endpoints
        .find({ limitedAt: { $gt: toDate(at - FRESH_MS) } }, { hint: LIMITED_INDEX })
        .sort({ limitedAt: -1 })
        .limit(LIMITED_MAX)
        .toArray()
      return found.flatMap(({ _id: id, workspaceId, url, limitedSince, limitedBy }) =>
        limitedSince === undefined || limitedBy === undefined
          ? []
          : [{ id, workspaceId, url, since: toMs(limitedSince), ...limitedBy }],
      )
    },
  }
}
