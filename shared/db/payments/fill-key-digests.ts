import type { Database } from '#shared/db/connection/connect.ts'
import { isDigestOf, paymentKeyDigest } from './payment-key-digest.ts'
import { PAYMENTS } from './payment-model.ts'

/** Payments read at a time. */
const PAGE = 1_000

/**
 * Stores the digest of every payment with an id above `after` that has none, and compares the others with their keys. `onPage` receives the
 * last id of each page and how many payments were read so far; it may throw to stop. Safe to repeat. Throws when a stored digest is not
 * that of its key.
 */
export async function fillKeyDigests(
  db: Database,
  after: string,
  onPage: (lastId: string, read: number) => Promise<void>,
): Promise<void> {
  const payments = db.collection(PAYMENTS)
  let last = after
  for (let read = 0; ; ) {
    const page = await payments
      .find({ _id: { $gt: last } }, { projection: { key: 1, keyDigest: 1 } })
      .sort({ _id: 1 })
      .limit(PAGE)
      .toArray()
    for (const { _id, key, keyDigest } of page) {
      if (keyDigest !== undefined && !isDigestOf(keyDigest, key)) {
        throw new Error(`payment ${_id} is stored under a digest that is not that of its key ${key}`)
      }
    }
    const empty = page.filter(({ keyDigest }) => keyDigest === undefined)
    if (empty.length > 0) {
      const fills = empty.map(({ _id, key }) => ({
        updateOne: {
          filter: { _id, keyDigest: { $exists: false } },
          update: { $set: { keyDigest: paymentKeyDigest(key) } },
        },
      }))
      await payments.bulkWrite(fills, { ordered: false })
    }
    const end = page.at(-1)
    if (end === undefined) return
    last = end._id
    read += page.length
    await onPage(last, read)
  }
}
