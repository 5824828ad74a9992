import { RATE_SNAPSHOTS } from '../../rates/rate-model.ts'
import type { Migration } from './migration.ts'

const FORMER_INDEX = 'rate_at'
/** IndexNotFound and NamespaceNotFound. */
const GONE: readonly unknown[] = [27, 26]

/** The store removed rates after 15 days even while a scanner was further behind; the retention job waits for it. */
export const RATES_WITHOUT_END: Migration = {
  id: 1,
  description: 'Rates are removed by the retention job, not by the store',
  readableBy: 0,
  up: async ({ db }) => {
    try {
      await db.collection(RATE_SNAPSHOTS).dropIndex(FORMER_INDEX)
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && GONE.includes(error.code))) throw error
    }
  },
}
