import { MODES } from '#shared/domain/enumerations.ts'
import { hasFormerKey, placeFormerKeys } from '#shared/domain/payment/call-move-keys.ts'
import { paymentFromDocument } from '../../payments/payment-mapping.ts'
import { PAYMENTS, type PaymentDocument } from '../../payments/payment-model.ts'
import type { Migration } from './migration.ts'

/** Rows read at a time. */
const PAGE = 500
/** `<mode>:tron:<txid>:x<n>`, with a second amount of that key at its end. */
const FORMER_KEY = /^(live|test):tron:[0-9a-f]{64}:x\d+(:\d+)?$/
/** Open payments: a running scanner places these after it has read their block again. */
const OPEN: readonly PaymentDocument['state'][] = ['detected']

/**
 * Records for each settled payment from a TRON contract call which key it has now. `key` is unchanged: invoices, exceptions
 * and audit rows refer to it, and a scanner of the previous version keeps finding it.
 */
export const CURRENT_KEYS_OF_CALL_MOVES: Migration = {
  id: 2,
  description: 'Payments by contracts of TRON carry the key that every node agrees on',
  readableBy: 0,
  up: async ({ db, cursor, keep }) => {
    const payments = db.collection(PAYMENTS)
    for (let after = cursor ?? ''; ; ) {
      const ranges = MODES.map((mode) => ({ key: { $gt: `${mode}:tron:`, $lt: `${mode}:tron;` } }))
      const page = await payments
        .find({ $and: [{ $or: ranges }, { key: { $gt: after } }, { key: FORMER_KEY }] })
        .sort({ key: 1 })
        .limit(PAGE)
        .toArray()
      for (const transaction of new Set(page.map(({ key }) => key.split(':').slice(0, 3).join(':')))) {
        const rows = await payments.find({ key: { $gt: `${transaction}:`, $lt: `${transaction};` } }).toArray()
        const places = placeFormerKeys(rows.map(paymentFromDocument))
        for (const { key, state } of rows.filter(hasFormerKey)) {
          const currentKey = places.get(key)
          if (currentKey === undefined || OPEN.includes(state)) continue
          await payments.updateOne({ key, currentKey: { $exists: false } }, { $set: { currentKey } })
        }
      }
      const last = page.at(-1)
      if (last === undefined) return
      after = last.key
      await keep(after)
    }
  },
}
