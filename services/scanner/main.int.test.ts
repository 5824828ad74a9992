import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { type LocalChain, startLocalChain } from '#dev/local-chain/start-local-chain.ts'
import { NO_PACES } from '#shared/chains/catalog.ts'
import { parseConfig } from '#shared/config/schema.ts'
import { createCursorRepository } from '#shared/db/scanning/cursor-repository.ts'
import { createWalletRepository } from '#shared/db/wallets/wallet-repository.ts'
import { createRedisSignals } from '#shared/queues/redis-signals.ts'
import { useStores } from '#test/support/stores.ts'
import { start } from './main.ts'

const PATIENCE = { timeout: 8_000, interval: 20 }

const stores = useStores()
let chain: LocalChain
beforeAll(async () => {
  chain = await startLocalChain({ blockTimeMs: null })
})
afterAll(() => chain.stop())

/** The settings of an installation with these nodes in test mode. */
function settings(nodes: Readonly<Record<string, object>>, chains: string) {
  return parseConfig({
    MONGO_URL: stores.mongoUrl,
    REDIS_URL: stores.redisUrl,
    PAYMESH_ENV: 'development',
    PAYMESH_MASTER_KEY: Buffer.alloc(32, 1).toString('base64'),
    PAYMESH_KEY_PEPPER: Buffer.alloc(32, 2).toString('base64'),
    PAYMESH_NETWORKS: JSON.stringify({ test: nodes }),
    CHAINS: chains,
  })
}

it('scans the configured networks that CHAINS selects, each in its own mode, and gives its lease back', async () => {
  const node = { rpcUrls: [chain.url], chainId: chain.chainId }
  const config = settings({ ethereum: node, polygon: node, bitcoin: node }, 'ethereum,bitcoin')
  const { db, redis, runtime } = stores
  const cursors = createCursorRepository(db)
  const wallets = createWalletRepository(db)
  const address = { mode: 'test', family: 'evm', materialId: 'm', index: 0, watchedOn: [] } as const
  await wallets.addDerived('m', [{ ...address, address: `0x${'1'.repeat(40)}`, matchKey: '1'.repeat(40) }], 1)

  const stop = await start({
    ...runtime,
    config,
    db,
    signals: createRedisSignals(redis),
    markPlaces: [],
    paces: NO_PACES,
  })
  await vi.waitFor(async () => {
    expect(await wallets.unmarkedWatches('test', 'evm', 'ethereum', 10)).toEqual([])
    expect(await cursors.find('test', 'ethereum')).toMatchObject({ height: 0, lease: { epoch: 1 } })
  }, PATIENCE)
  await chain.mine(2)
  await vi.waitFor(async () => expect((await cursors.find('test', 'ethereum'))?.height).toBe(2), PATIENCE)
  await stop()
  expect((await cursors.list()).map(({ id, lease }) => [id, lease])).toEqual([['test:ethereum', null]])
})

// Guarantee: an installation whose default changes is handed over at a recorded height, and back without a gap.
it('reads an own node in full, one that is paid for thriftily, and hands the cursor over when that changes', async () => {
  const { db, redis, runtime } = stores
  const cursors = createCursorRepository(db)
  await db.connection.collection('chain_cursors').deleteMany({})
  const own = { rpcUrls: [chain.url], chainId: chain.chainId }
  const paidFor = { ...own, quota: { perMonth: 1_000_000, unit: 'calls' } }
  const logged: object[] = []
  const logger = { ...runtime.logger, info: (fields: object) => void logged.push(fields) }
  const scanWith = (node: object) =>
    start({
      ...runtime,
      logger,
      config: settings({ base: node }, 'base'),
      db,
      signals: createRedisSignals(redis),
      markPlaces: [],
      paces: NO_PACES,
    })
  const cursor = () => cursors.find('test', 'base')

  let stop = await scanWith(own)
  const top = Number(await chain.rpc('eth_blockNumber', []))
  await vi.waitFor(async () => {
    const { height, source = 'full' } = (await cursor()) ?? {}
    expect({ height, source }).toEqual({ height: top, source: 'full' })
  }, PATIENCE)
  await stop()

  stop = await scanWith(paidFor)
  await vi.waitFor(async () => {
    expect(await cursor()).toMatchObject({ source: 'thrifty', looks: { ended: {}, month: {} } })
  }, PATIENCE)
  await stop()

  await chain.mine(3)
  stop = await scanWith({ ...paidFor, source: 'full' })
  await vi.waitFor(async () => {
    expect(await cursor()).toMatchObject({ source: 'full', height: top + 3, looks: { month: {} } })
  }, PATIENCE)
  await stop()

  const chosen = logged.filter((fields) => 'why' in fields)
  expect(chosen).toMatchObject([
    { ...{ mode: 'test', network: 'base', source: 'full' }, why: expect.stringContaining('the node is your own') },
    { source: 'thrifty', why: expect.stringContaining('count against a quota') },
    { source: 'full', why: 'The setting "source" of the network says so.' },
  ])
})
