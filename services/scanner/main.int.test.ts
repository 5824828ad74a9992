import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { type LocalChain, startLocalChain } from '#scripts/local-chain/start-local-chain.ts'
import { parseConfig } from '#shared/config/schema.ts'
import { createCursorRepository } from '#shared/db/scanning/cursor-repository.ts'
import { createWalletRepository } from '#shared/db/wallets/wallet-repository.ts'
import { createRedisSignals } from '#shared/queues/redis-signals.ts'
import { useStores } from '#test/support/stores.ts'
import { start } from './main.ts'

const stores = useStores()
let chain: LocalChain
beforeAll(async () => {
  chain = await startLocalChain({ blockTimeMs: null })
})
afterAll(() => chain.stop())

it('scans the configured networks that CHAINS selects, each in its own mode, and gives its lease back', async () => {
  const node = { rpcUrls: [chain.url], chainId: chain.chainId }
  const config = parseConfig({
    MONGO_URL: stores.mongoUrl,
    REDIS_URL: stores.redisUrl,
    PAYMESH_ENV: 'development',
    PAYMESH_MASTER_KEY: Buffer.alloc(32, 1).toString('base64'),
    PAYMESH_KEY_PEPPER: Buffer.alloc(32, 2).toString('base64'),
    PAYMESH_NETWORKS: JSON.stringify({ test: { ethereum: node, polygon: node, bitcoin: node } }),
    CHAINS: 'ethereum,bitcoin',
  })
  const { db, redis, runtime } = stores
  const cursors = createCursorRepository(db)
  const wallets = createWalletRepository(db)
  const address = { mode: 'test', family: 'evm', materialId: 'm', index: 0, watchedOn: [] } as const
  await wallets.addDerived('m', [{ ...address, address: `0x${'1'.repeat(40)}`, matchKey: '1'.repeat(40) }], 1)

  const stop = await start({ ...runtime, config, db, signals: createRedisSignals(redis) })
  await vi.waitFor(async () => {
    expect(await wallets.unmarkedWatches('test', 'evm', 'ethereum', 10)).toEqual([])
    expect(await cursors.find('test', 'ethereum')).toMatchObject({ height: 0, lease: { epoch: 1 } })
  }, 8_000)
  await chain.mine(2)
  await vi.waitFor(async () => expect((await cursors.find('test', 'ethereum'))?.height).toBe(2), 8_000)
  await stop()
  expect((await cursors.list()).map(({ id, lease }) => [id, lease])).toEqual([['test:ethereum', null]])
})
