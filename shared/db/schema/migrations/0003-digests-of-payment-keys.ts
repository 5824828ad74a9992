import { fillKeyDigests } from '../../payments/fill-key-digests.ts'
import { PAYMENTS } from '../../payments/payment-model.ts'
import type { Migration } from './migration.ts'

/** Payments between two lines of progress. */
const REPORT_EVERY = 100_000

/**
 * Adds to each payment the digest of its key. Processes of the version before go on storing payments without one, under the unique index of
 * the text, which stays until `dropFormerKeyIndex`.
 */
export const DIGESTS_OF_PAYMENT_KEYS: Migration = {
  id: 3,
  description: 'Payments carry a digest of their key',
  readableBy: 0,
  up: async ({ db, cursor, keep, report }) => {
    const about = await db.collection(PAYMENTS).estimatedDocumentCount()
    await fillKeyDigests(db, cursor ?? '', async (lastId, read) => {
      await keep(lastId)
      if (read % REPORT_EVERY === 0) report(`payments: ${read} of about ${about} have a digest of their key`)
    })
  },
}
