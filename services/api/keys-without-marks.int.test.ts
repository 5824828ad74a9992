import { afterAll, beforeAll, expect, it } from 'vitest'
import { PaymeshError } from '#shared/contracts/errors.ts'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { connectRedis, type RedisConnections } from '#shared/queues/connection.ts'
import { openApi, type TestApi } from '#test/support/api.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
let redis: RedisConnections
/** Two processes that Redis does not answer; all but the first read the wallets once they had been removed. */
let first: TestApi
let second: TestApi
/** A process that Redis answers. */
let marked: TestApi
const withoutWallet = () => ({
  paymentMethods: { prepare: () => Promise.reject(new PaymeshError('NO_WALLET_FOR_ASSET')) },
})
/** Called before an invoice of the first process is inserted. */
let beforeInsert: () => Promise<void> = async () => undefined

beforeAll(async () => {
  redis = connectRedis({ url: 'redis://127.0.0.1:1', prefix: 'none', logger: stores.runtime.logger })
  first = await openApi(stores, {
    redis,
    deps: ({ invoices }) => ({
      invoices: {
        ...invoices,
        insert: async (invoice) => {
          await beforeInsert()
          return await invoices.insert(invoice)
        },
      },
    }),
  })
  second = await openApi(stores, {
    redis,
    deps: withoutWallet,
  })
  marked = await openApi(stores, { deps: withoutWallet })
})
afterAll(async () => {
  await Promise.all([first.close(), second.close(), marked.close()])
  await redis.close()
})

const create = async (api: TestApi, idempotencyKey: string) => {
  const body = { amount: '25.00', currency: 'USD', asset: 'usdt_ethereum', order_id: idempotencyKey }
  const { status, json, headers } = await api.call('POST', '/invoices', {
    ...{ body, key: first.testKey },
    headers: { 'idempotency-key': idempotencyKey },
  })
  return [status, json.error?.code ?? json.data.order_id, headers.get('idempotent-replayed')]
}

// Guarantee: a refusal is final for its key. A shop that was refused opens the next attempt, and an invoice of this key would then be a second
// one of the order.
it('gives no refusal under a key whose other request may still create the invoice', async () => {
  const refused: unknown[] = []
  beforeInsert = async () => {
    for (const api of [second, marked]) refused.push(await create(api, 'at-once'))
  }
  expect(await create(first, 'at-once')).toEqual([201, 'at-once', null])
  expect(refused).toEqual([
    [409, 'IDEMPOTENCY_IN_PROGRESS', null],
    [409, 'IDEMPOTENCY_IN_PROGRESS', null],
  ])
  expect(await create(second, 'at-once')).toEqual([201, 'at-once', 'true'])
  expect(await stores.db.collection(INVOICES).countDocuments({ orderId: 'at-once' })).toBe(1)
})

it('creates nothing under a key that was refused', async () => {
  beforeInsert = async () => undefined
  expect(await create(second, 'refused')).toEqual([400, 'NO_WALLET_FOR_ASSET', null])
  expect(await create(first, 'refused')).toEqual([400, 'NO_WALLET_FOR_ASSET', 'true'])
  expect(await stores.db.collection(INVOICES).countDocuments({ orderId: 'refused' })).toBe(0)
})

it('takes a key again after a failure that was no refusal', async () => {
  beforeInsert = () => Promise.reject(new PaymeshError('RATES_UNAVAILABLE'))
  expect(await create(first, 'again')).toEqual([503, 'RATES_UNAVAILABLE', null])
  beforeInsert = async () => undefined
  expect(await create(first, 'again')).toEqual([201, 'again', null])
})
