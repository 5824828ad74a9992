import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { createCursorRepository } from '#shared/db/scanning/cursor-repository.ts'
import { useStores } from '#test/support/stores.ts'
import { runCli } from './main.ts'

const stores = useStores()
/** No node answers there: the status is read from the store. */
const NODE = { rpcUrls: ['http://127.0.0.1:1'], chainId: 31_337 }
let printed = ''

/** The settings of an installation; each command takes its secrets out of the environment. */
function setEnvironment(): void {
  const secret = (byte: number) => Buffer.alloc(32, byte).toString('base64')
  const settings = {
    ...{ MONGO_URL: stores.mongoUrl, REDIS_URL: stores.redisUrl },
    ...{ PAYMESH_MONGO_DATABASE: stores.database, PAYMESH_REDIS_PREFIX: stores.prefix },
    ...{ PAYMESH_MASTER_KEY: secret(7), PAYMESH_KEY_PEPPER: secret(8), PAYMESH_ENV: 'test' },
    PAYMESH_NETWORKS: JSON.stringify({ test: { ethereum: NODE } }),
  }
  for (const [name, value] of Object.entries(settings)) vi.stubEnv(name, value)
}

beforeAll(() => {
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed += String(text)
    return true
  })
})
afterAll(() => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
})

/** What `paymesh chain status` prints about a network whose node answered just now. */
async function statusWith(lease: { readonly owner: string; readonly epoch: number; readonly until: number } | null) {
  const now = Date.now()
  await stores.db.connection.collection('chain_cursors').deleteMany({})
  await createCursorRepository(stores.db).create({
    ...{ id: 'test:ethereum', mode: 'test', network: 'ethereum', height: 990, hash: '0x990', time: now, window: [] },
    ...{ headHeight: 1_000, headSeenAt: now, finalizedHeight: null, status: 'live' },
    ...{ haltReason: null, genesisHash: '0x0', lease },
  })
  printed = ''
  setEnvironment()
  expect(await runCli(['chain', 'status'])).toBe(0)
  return printed
}

// Guarantee: people on call see at once that nobody scans a network, not after the minute in which a scanner may be replaced.
it('names a lease that ran out, and none that is held', async () => {
  const gone = await statusWith({ owner: 'scanner-a', epoch: 3, until: 0 })
  expect(gone).toMatch(/^test ethereum .* 990 .* 3 scanner-a \(expired\)$/m)
  expect(gone).toContain('test ethereum: the lease of its scanner ran out; another one takes it within seconds')
  const held = await statusWith({ owner: 'scanner-a', epoch: 3, until: Date.now() + 600_000 })
  expect(held).toMatch(/^test ethereum .* 990 .* 3 scanner-a$/m)
  expect(held).not.toContain('ran out')
  expect(await statusWith(null)).not.toContain('ran out')
})
