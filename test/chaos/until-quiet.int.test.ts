import { expect, it } from 'vitest'
import type { Database } from '#shared/db/connection/connect.ts'
import { WEBHOOK_DELIVERIES } from '#shared/db/deliveries/delivery-model.ts'
import { createSecretBox } from '#shared/runtime/secrets/secret-box.ts'
import { keyed } from '#test/support/keyed.ts'
import { givePending } from '#test/support/pending-deliveries.ts'
import { useStores } from '#test/support/stores.ts'
import { untilQuiet } from './until-quiet.ts'

const stores = useStores()
const TX = '0x01'
const ledger = [{ kind: 'transfer', invoiceId: 'one', txHash: TX, amountBase: '1', at: 0 }] as const
const AT_MOST_MS = 600_000

/** Starts waiting; `first` is how that began: quiet at once, or a second look at the store. */
async function begin(options: Omit<Parameters<typeof untilQuiet>[0], 'db'>) {
  let rounds = 0
  let resolve: () => void = () => undefined
  const requestedTwice = new Promise<void>((done) => {
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
  const quiet = untilQuiet({ ...options, db: counting }, AT_MOST_MS, () => undefined)
  const first = await Promise.race([quiet.then(() => 'quiet'), requestedTwice.then(() => 'asked twice')])
  return { first, quiet }
}

// The scanner was killed before it stored anything: nobody has work, and the transfer is on the chain all the same.
it('is not quiet while a transfer is not stored, and is once it is', async () => {
  const { first, quiet } = await begin({ ledger })
  expect(first).toBe('asked twice')
  const payments = stores.db.connection.collection<ReturnType<typeof keyed> & { _id: string; txHash: string }>(
    'payments',
  )
  await payments.insertOne({ _id: 'one', ...keyed('one'), txHash: TX })
  expect(await quiet).toBeGreaterThan(0)
})

const RETRIES_WITHIN_MS = 20_000
const [SOON, LATER] = [10_000, 3_600_000]

it.each([
  { what: 'a retry planned for later than it waits for', attempt: 1, dueInMs: LATER, leaseToken: null, first: 'quiet' },
  { what: 'a retry planned for soon', attempt: 1, dueInMs: SOON, leaseToken: null, first: 'asked twice' },
  // Due again in an hour only if the process that sends it now is lost.
  { what: 'a retry on its way', attempt: 1, dueInMs: LATER, leaseToken: 'taken', first: 'asked twice' },
  { what: 'a first attempt', attempt: 0, dueInMs: LATER, leaseToken: null, first: 'asked twice' },
])('$what: $first', async ({ attempt, dueInMs, leaseToken, first }) => {
  await givePending(stores.db, createSecretBox(new Uint8Array(32)), 1, { url: 'http://127.0.0.1:1/' })
  const deliveries = stores.db.collection(WEBHOOK_DELIVERIES)
  const dueAt = new Date(Date.now() + dueInMs)
  await deliveries.updateMany({}, [{ $set: { attempt, dueAt, leaseToken } }])
  const waiting = await begin({ ledger: [], retriesWithinMs: RETRIES_WITHIN_MS })
  expect(waiting.first).toBe(first)
  await deliveries.deleteMany({})
  expect(await waiting.quiet).toBeGreaterThanOrEqual(0)
})
