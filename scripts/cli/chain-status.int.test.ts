import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { CHAINS } from '#shared/chains/definitions/registry.ts'
import { createInvoiceRepository } from '#shared/db/invoices/invoice-repository.ts'
import { createCursorRepository } from '#shared/db/scanning/cursor-repository.ts'
import { createNodeUsageRepository } from '#shared/db/scanning/node-usage-repository.ts'
import { startOfDay } from '#shared/usecases/networks/usage-counter.ts'
import { sampleInvoice, samplePaymentMethod } from '#test/support/db-samples.ts'
import { deepTest } from '#test/support/depth.ts'
import { useStores } from '#test/support/stores.ts'
import { runDiagnoses } from './doctor/diagnoses.ts'
import { runCli } from './main.ts'
import { withInstallation } from './session/installation.ts'

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
    PAYMESH_NETWORKS: JSON.stringify({ test: { ethereum: { ...NODE, quota: { perMonth: 100, unit: 'calls' } } } }),
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
  expect(gone).toContain(
    'test ethereum: the lease of its scanner expired; another scanner takes it within seconds if one is running',
  )
  const held = await statusWith({ owner: 'scanner-a', epoch: 3, until: Date.now() + 600_000 })
  expect(held).toMatch(/^test ethereum .* 990 .* 3 scanner-a$/m)
  expect(held).not.toContain('expired')
  expect(await statusWith(null)).not.toContain('expired')
})

/** Stores calls of today, so many as the month's quota has percent. */
async function use(calls: number): Promise<void> {
  const now = Date.now()
  await stores.db.connection.collection('node_usage').deleteMany({})
  const key = { mode: 'test', network: 'ethereum', provider: '127.0.0.1:1', unit: 'calls' } as const
  const row = { ...key, day: startOfDay(now), firstAt: now, calls, units: calls, bytes: 3_000_000 }
  await createNodeUsageRepository(stores.db).add([row])
}

async function run(...args: readonly string[]): Promise<string> {
  printed = ''
  setEnvironment()
  await runCli(args)
  process.exitCode = undefined
  return printed
}

// Guarantee: a quota that is nearly used shows before the provider refuses, in every command that people on call use.
deepTest('shows calls, units and the quota, and warns at 80 and 95 percent', async () => {
  await use(79)
  expect(await run('chain', 'status')).toMatch(/^test ethereum quota: 79 of 100 calls this month \(79 %\)$/m)
  expect(printed).toMatch(/^test ethereum +127\.0\.0\.1:1 +calls +79 +79 +79 +79 +- +3\.0 MB/m)
  await use(80)
  expect(await run('chain', 'status')).toContain('WARNING: test ethereum quota: 80 of 100 calls')
  // The command asked the nodes, and that counts.
  await use(80)
  expect(await run('doctor')).toContain('warning: 80 % of this month’s 100 calls are used')
  await use(95)
  expect(await run('chain', 'status')).toContain('ERROR: test ethereum quota: 95 of 100 calls')
  await use(95)
  const place = { mode: 'test', network: 'ethereum', unit: 'calls' }
  expect(JSON.parse(await run('chain', 'status', '--json'))).toMatchObject({
    providers: [{ ...place, provider: '127.0.0.1:1', today: { calls: 95, units: 95, bytes: 3_000_000 } }],
    quotas: [{ ...place, perMonth: 100, used: 95, usedShare: 0.95, level: 'critical' }],
  })
  // Last, because it calls the nodes itself, and that counts.
  expect(await run('doctor')).toContain('Scanning continues until the provider refuses')
})

// Guarantee: people on call see when a network is not what this version states.
it('shows what was measured beside the row', async () => {
  const now = Date.now()
  const marks = Array.from({ length: 25 }, (_, at): [number, number] => [at * 100, now + at * 120_000])
  await stores.db.connection.collection('chain_cursors').deleteMany({})
  await createCursorRepository(stores.db).create({
    ...{ id: 'live:ethereum', mode: 'live', network: 'ethereum', height: 990, hash: '0x990', time: now, window: [] },
    ...{ headHeight: 1_000, headSeenAt: now, finalizedHeight: null, status: 'live', haltReason: null },
    ...{ genesisHash: '0x0', lease: null, measured: { marks, finality: [], reorg: { depth: 3, at: now } } },
  })
  expect(await run('chain', 'status')).toContain(
    'live ethereum: block time 1.2 s (row 12 s), finality not measured yet (row 15 min), deepest reorganisation 3 blocks (halts beyond 650 blocks)',
  )
  expect(printed).toContain('WARNING: live ethereum: block time differs from the row: see ChainFactsOff')
  const { items } = JSON.parse(await run('chain', 'status', '--json')) as { items: Record<string, unknown>[] }
  expect(items[0]).toMatchObject({
    facts: [{ fact: 'block_time', row: 12_000, measured: 1_200, isOff: true }, {}, { measured: 3, isOff: false }],
    row: { on: expect.stringMatching(/^\d{4}-\d{2}-\d{2}$/) },
  })
})

// Guarantee: a row that nobody compared with the world for half a year is named, whatever the calendar of the machine that runs this test says.
it.each([
  { days: 180, isOld: false },
  { days: 181, isOld: true },
])('doctor names rows of more than 180 days: $days', async ({ days, isOld }) => {
  setEnvironment()
  const now = Date.parse(CHAINS.ethereum.checked.on) + days * 86_400_000
  await stores.db.connection.collection('chain_cursors').deleteMany({})
  await createCursorRepository(stores.db).create({
    ...{ id: 'test:ethereum', mode: 'test', network: 'ethereum', height: 990, hash: '0x990', time: now, window: [] },
    ...{ headHeight: 1_000, headSeenAt: now, finalizedHeight: 900, status: 'live', haltReason: null },
    ...{ genesisHash: '0x0', lease: null },
  })
  await withInstallation(async (installation) => {
    const found = await runDiagnoses({ ...installation, clock: { ...installation.clock, now: () => now } })
    const detail = found.find(({ name }) => name === 'test ethereum')?.detail
    expect(detail).toContain('block 990, 10 behind the head; block time not measured yet (row 12 s)')
    expect(detail?.includes('more than 180 days ago: see docs/upgrades-ahead.md')).toBe(isOld)
  })
})

// Guarantee: people on call see for whom a network is scanned, and that a quiet one rests and is not stuck.
it('names the source, the open payment methods, and when and why the node is asked next', async () => {
  const now = Date.now()
  const at = { height: 990, hash: '0x990', time: now, at: now }
  const looks = { ended: at, all: at, week: at, month: at }
  const cursors = createCursorRepository(stores.db)
  async function cursorWith(change: object): Promise<void> {
    await stores.db.connection.collection('chain_cursors').deleteMany({})
    await cursors.create({
      ...{ id: 'test:ethereum', mode: 'test', network: 'ethereum', height: 990, hash: '0x990', time: now, window: [] },
      ...{ headHeight: 1_000, headSeenAt: now, finalizedHeight: null, status: 'live' },
      ...{ haltReason: null, genesisHash: '0x0', lease: null, ...change },
    })
  }
  await stores.db.connection.collection('node_usage').deleteMany({})
  await cursorWith({})
  expect(await run('chain', 'status')).toContain(
    'test ethereum is scanned in full mode, with no open payment method. Every block is read as soon as the node has it.',
  )
  expect(printed).toContain(
    'test ethereum: the settings choose thrifty mode. The default, because calls to 127.0.0.1:1 count against a quota. The setting "source":"full" changes it. The scanner changes to it when it is started with these settings.',
  )
  await cursorWith({ source: 'thrifty', looks })
  expect(await run('chain', 'status')).toMatch(
    /^test ethereum is scanned in thrifty mode and rests, with no open payment method\. No open invoice .* every 10 minutes\. Next look: in 10 min\. Addresses of invoices that ended in the last day: in 60 min, compared up to block \d+; all addresses: in 24 h, compared up to block \d+\.$/m,
  )
  expect(printed).toMatch(/^test ethereum: the settings choose thrifty mode\. .* changes it\.$/m)
  const invoices = createInvoiceRepository(stores.db)
  const stateOf = (status: 'pending' | 'paid', matchKey: string) => {
    return {
      status,
      expiresAt: now + 600_000,
      paymentMethods: [samplePaymentMethod(matchKey, now, { asset: 'eth_ethereum' })],
    }
  }
  await invoices.insert(sampleInvoice(stores.runtime.random, { state: stateOf('pending', 'a1') }))
  await invoices.insert(sampleInvoice(stores.runtime.random, { number: 2, state: stateOf('paid', 'a2') }))
  const { items } = JSON.parse(await run('chain', 'status', '--json')) as { items: { scan: object }[] }
  expect(items[0]?.scan).toMatchObject({
    ...{ source: 'thrifty', isResting: false, isComplete: true, open: [{ asset: 'eth_ethereum', methods: 1 }] },
    choice: { source: 'thrifty', why: expect.stringContaining('quota') },
    nextLooks: { endedAt: now + 3_600_000, allAt: now + 86_400_000 },
  })
  expect(await run('chain', 'status')).toMatch(
    /with 1 open payment method \(1 eth_ethereum\)\. Open invoices wait for money: their balances are compared every \d+ s, more often while a payer has the page open\. Next look: (in \d+ s|now)\./,
  )
})
