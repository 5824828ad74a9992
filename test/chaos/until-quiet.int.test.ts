import { expect, it } from 'vitest'
import type { Database } from '#shared/db/connection/connect.ts'
import { WEBHOOK_DELIVERIES } from '#shared/db/deliveries/delivery-model.ts'
import { keyed } from '#test/support/keyed.ts'
import { useStores } from '#test/support/stores.ts'
import { untilQuiet } from '../../chaos/until-quiet.ts'

const stores = useStores()
const TX = '0x01'
const ledger = [{ kind: 'transfer', invoiceId: 'one', txHash: TX, amountBase: '1', at: 0 }] as const
const AT_MOST_MS = 600_000

// The scanner was killed before it stored anything: nobody has work, and the transfer is on the chain all the same.
it('is not quiet while a transfer is not stored, and is once it is', async () => {
  let rounds = 0
  let resolve: () => void = () => undefined
  const askedTwice = new Promise<void>((done) => {
    resolve = done
  })
  const counting: Database = {
    ...stores.db,
    collection: (model) => {
      // Asked once in each round.
      if (model.name === WEBHOOK_DELIVERIES.name) rounds += 1
      if (rounds === 2) resolve()
      return stores.db.collection(model)
    },
  }
  const quiet = untilQuiet({ db: counting, ledger }, AT_MOST_MS, () => undefined)
  expect(await Promise.race([quiet.then(() => 'quiet'), askedTwice.then(() => 'asked twice')])).toBe('asked twice')
  const payments = stores.db.connection.collection<ReturnType<typeof keyed> & { _id: string; txHash: string }>(
    'payments',
  )
  await payments.insertOne({ _id: 'one', ...keyed('one'), txHash: TX })
  expect(await quiet).toBeGreaterThan(0)
})
