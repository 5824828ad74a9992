import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { createLeaseRepository } from '#shared/db/installation/lease-repository.ts'
import { createProcessHeartbeats } from '#shared/db/installation/process-heartbeats.ts'
import { startOfDay } from '#shared/usecases/networks/usage-counter.ts'
import { adminCaller } from '#test/support/admin.ts'
import { deliveryStage } from '#test/support/delivery-stage.ts'
import { useStores } from '#test/support/stores.ts'
import { waitingJumpAt } from '#test/support/waiting-jump.ts'

const stores = useStores()
const stage = deliveryStage(stores)
const operator = () => adminCaller(stores, { operator: true })
const ETHEREUM = { mode: 'test', network: 'ethereum' } as const

/** A cursor as it stands behind its head, without a scanner. */
const freshCursor = (height: number, now: number) => ({
  ...{ id: 'test:ethereum', ...ETHEREUM, height, hash: `0x${height}`, time: now - 120_000, window: [] },
  ...{ headHeight: height + 10, headSeenAt: now - 1_000, finalizedHeight: null, status: 'live' as const },
  ...{ haltReason: null, genesisHash: '0x0', lease: null },
})

/** A scanner's cursor as it stands behind its head. */
async function cursor(height: number, change: object = {}) {
  const { deps } = await operator()
  const { cursors } = deps.instance
  const fresh = freshCursor(height, deps.clock.now())
  await cursors.create(fresh)
  const lease = await cursors.acquireLease('test', 'ethereum', 'scanner-a', 60_000)
  const stored = await cursors.find('test', 'ethereum')
  const expected = { hash: stored?.hash ?? '', epoch: lease?.epoch ?? 0 }
  const { id: _id, mode: _mode, network: _network, lease: _lease, ...rest } = fresh
  await cursors.advance('test', 'ethereum', expected, { ...rest, ...change })
}

it('is for people who run the installation only', async () => {
  const { caller } = await adminCaller(stores, { role: 'owner' })
  for (const call of [
    caller.chains.list(),
    caller.chains.costs(),
    caller.queues.list(),
    caller.rates.board(),
    caller.system.processes(),
  ]) {
    await expect(call).rejects.toMatchObject({ code: 'FORBIDDEN' })
  }
})

it('says where a chain stands against its mark, and asks its scanner once for one wish', async () => {
  const { caller, deps } = await operator()
  await cursor(1_000)
  const [chain] = (await caller.chains.list()).items
  expect(chain).toMatchObject({
    ...ETHEREUM,
    status: 'live',
    height: 1_000,
    lagBlocks: 10,
    lease: { owner: 'scanner-a' },
  })
  expect(chain?.blockAgeMs).toBeGreaterThan(119_000)
  expect(chain?.lagMarkMs).toBe(180_000)
  const request = { ...ETHEREUM, kind: 'rescan' as const, from: 900, to: 950, opId: randomUUID(), reason: 'a gap' }
  const { plan } = await caller.chains.plan({ ...ETHEREUM, kind: 'rewind', to: 500 })
  expect(plan).toMatchObject({ from: 501, to: 1_000, livePayments: 0 })
  const answer = await caller.chains.request(request)
  expect(answer).toMatchObject({ repeated: false, command: { kind: 'rescan', status: 'open' } })
  const { cancelled } = await caller.chains.cancel({ ...ETHEREUM, opId: randomUUID() })
  expect(cancelled.map(({ id }) => id)).toEqual([answer.command?.id])
  // The answer was lost and the page repeats it: it does not begin again.
  expect(await caller.chains.request(request)).toMatchObject({ repeated: true, command: { status: 'cancelled' } })
  const rows = await deps.instance.audits.listBySubject('test:ethereum')
  expect(rows.map(({ action, actor }) => [action, actor])).toEqual([
    ['chain.rescan', 'user:olivia@example.com'],
    ['chain.rescan_cancelled', 'user:olivia@example.com'],
  ])
  expect(rows[0]?.detail['reason']).toBe('a gap')
})

it('says how a network is scanned and when its node is asked next', async () => {
  const { caller, deps } = await operator()
  const now = deps.clock.now()
  const at = { height: 1_000, hash: '0x1000', time: now, at: now }
  await stores.db.connection.collection('chain_cursors').deleteMany({})
  await deps.instance.cursors.create(freshCursor(1_000, now))
  expect((await caller.chains.list()).items[0]?.scan).toMatchObject({
    ...{ source: 'full', open: [], isComplete: true, isResting: false, nextLookAt: null, nextLooks: null },
    reason: 'Every block is read as soon as the node has it.',
    choice: { source: 'full', why: expect.stringContaining('the node is your own (127.0.0.1:1)') },
  })
  await stores.db.connection.collection('chain_cursors').deleteMany({})
  const looks = { ended: at, all: at, week: at, month: at }
  await deps.instance.cursors.create({ ...freshCursor(1_000, now), source: 'thrifty', looks })
  expect((await caller.chains.list()).items[0]?.scan).toMatchObject({
    ...{ source: 'thrifty', open: [], isResting: true, nextLookAt: now - 1_000 + 600_000 },
    nextLooks: { endedAt: now + 3_600_000, endedHeight: 1_000, allAt: now + 86_400_000, allHeight: 1_000 },
  })
  await stores.db.connection.collection('chain_cursors').deleteMany({})
  await cursor(1_000)
})

it('shows what the nodes of a network are asked', async () => {
  const { caller, deps } = await operator()
  const now = deps.clock.now()
  const key = { ...ETHEREUM, provider: 'geth:8545', unit: 'calls' as const, day: startOfDay(now), firstAt: now }
  await deps.instance.nodeUsage.add([{ ...key, calls: 3, units: 3, bytes: 100 }])
  const figures = { calls: 3, units: 3, bytes: 100 }
  expect(await caller.chains.costs()).toEqual({
    providers: [
      {
        ...{ ...ETHEREUM, provider: 'geth:8545', unit: 'calls', today: figures, month: figures },
        ...{ inQuota: false, monthEstimate: null, logRangeMax: null },
      },
    ],
    quotas: [],
  })
})

// Guarantee: only people who run the installation let a deadline pass unread, and each release is in the audit trail once.
it('names what a network is stuck on, and releases its deadlines once for one wish', async () => {
  const { caller, deps } = await operator()
  const now = deps.clock.now()
  const trouble = {
    ...{ kind: 'node' as const, height: 1_001, hash: null, method: 'trace_block', host: 'node.example' },
    ...{ reason: 'ResponseExceededMaxSizeError', firstAt: now - 90_000, lastAt: now, tries: 30 },
  }
  await stores.db.connection.collection('chain_cursors').deleteMany({})
  await cursor(1_000, { trouble })
  const [chain] = (await caller.chains.list()).items
  expect(chain).toMatchObject({ status: 'stuck', lagBlocks: 10, trouble, stuck: { cause: 'block_unreadable' } })
  expect(chain?.stuck?.sentence).toBe(
    'Block 1001 cannot be read (node.example): trace_block: ResponseExceededMaxSizeError.',
  )
  const plan = await caller.chains.releasePlan(ETHEREUM)
  expect(plan).toMatchObject({ height: 1_000, waiting: 0 })
  const request = { ...ETHEREUM, through: plan.through, opId: randomUUID(), reason: 'the provider is down' }
  for (const role of ['viewer', 'owner'] as const) {
    const other = await adminCaller(stores, { role })
    await expect(other.caller.chains.releaseDeadlines(request)).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await expect(other.caller.chains.releasePlan(ETHEREUM)).rejects.toMatchObject({ code: 'FORBIDDEN' })
  }
  const unexplained = caller.chains.releaseDeadlines({ ...request, reason: '' })
  await expect(unexplained).rejects.toMatchObject({ code: 'BAD_REQUEST' })
  expect(await caller.chains.releaseDeadlines(request)).toMatchObject({ changed: true })
  expect(await caller.chains.releaseDeadlines(request)).toMatchObject({ changed: false })
  expect((await caller.chains.list()).items[0]).toMatchObject({
    released: { through: plan.through, by: 'user:olivia@example.com' },
    deadlinesUntil: plan.through,
  })
  const rows = await deps.instance.audits.listBySubject('test:ethereum')
  const released = rows.filter(({ action }) => action === 'chain.deadlines_released')
  expect(released).toHaveLength(1)
  expect(released[0]).toMatchObject({ actor: 'user:olivia@example.com', detail: { reason: 'the provider is down' } })
})

// Guarantee: a scanner that is gone is never shown as one that scans.
it('names a lease that ran out instead of the scanner that held it', async () => {
  const { caller, deps } = await operator()
  const now = deps.clock.now()
  const shown: Record<string, unknown> = {}
  for (const [name, until] of [['gone', 0] as const, ['held', now + 60_000] as const, ['none', null] as const]) {
    await stores.db.connection.collection('chain_cursors').deleteMany({})
    const lease = until === null ? null : { owner: 'scanner-a', epoch: 3, until }
    await deps.instance.cursors.create({ ...freshCursor(1_000, now), lease })
    const [chain] = (await caller.chains.list()).items
    shown[name] = chain?.lease
  }
  expect(shown).toEqual({
    gone: { owner: 'scanner-a', epoch: 3, expired: true },
    held: { owner: 'scanner-a', epoch: 3, expired: false },
    none: null,
  })
})

// Guarantee: a page never waits for thousands of blocks.
it('reads at most a hundred blocks ahead of a rescan, and says of more only what they hold', async () => {
  await stores.db.connection.collection('chain_cursors').deleteMany({})
  await cursor(1_000)
  const opened: string[] = []
  const { caller } = await adminCaller(stores, {
    operator: true,
    deps: ({ instance }) => ({
      instance: {
        ...instance,
        openChain: (mode, network) => {
          opened.push(`${mode} ${network}`)
          return instance.openChain(mode, network)
        },
      },
    }),
  })
  const rescan = { ...ETHEREUM, kind: 'rescan' as const, from: 801 }
  const more = await caller.chains.plan({ ...rescan, to: 901 })
  expect([more.plan.from, more.plan.to, more.preview, opened]).toEqual([801, 901, null, []])
  // The node here does not answer: that it is asked is enough.
  const fits = caller.chains.plan({ ...rescan, to: 900 })
  await expect(fits).rejects.toMatchObject({ message: expect.stringContaining('The node could not be queried') })
  expect(opened).toEqual(['test ethereum'])
})

// Guarantee: a node that is down hides nothing about the others, nor about the scanner.
it('shows each node as it answers for itself', async () => {
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (part) => {
      text += part
    })
    request.on('end', () => {
      const calls = [JSON.parse(text)].flat() as { id: number; method: string }[]
      const block = {
        number: '0x2a',
        hash: `0x${'1'.repeat(64)}`,
        parentHash: `0x${'2'.repeat(64)}`,
        timestamp: '0x1',
        logsBloom: `0x${'0'.repeat(512)}`,
      }
      const results: Readonly<Record<string, unknown>> = { eth_blockNumber: '0x2a', eth_chainId: '0x7a69' }
      const answers = calls.map(({ id, method }) => ({ jsonrpc: '2.0', id, result: results[method] ?? block }))
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(Array.isArray(JSON.parse(text)) ? answers : answers[0]))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const rpcUrls = ['http://127.0.0.1:1', `http://127.0.0.1:${port}`]
  const env = { PAYMESH_NETWORKS: JSON.stringify({ test: { ethereum: { rpcUrls, chainId: 31_337 } } }) }
  try {
    await stores.db.connection.collection('chain_cursors').deleteMany({})
    await cursor(1_000)
    const { caller } = await adminCaller(stores, { operator: true, env })
    const before = (await caller.chains.list()).items
    const { nodes } = await caller.chains.nodes(ETHEREUM)
    expect(nodes).toMatchObject([
      { host: '127.0.0.1:1', height: null, fault: expect.any(String) },
      { host: `127.0.0.1:${port}`, height: 42, fault: null },
    ])
    const after = (await caller.chains.list()).items
    expect(after[0]).toMatchObject({ status: before[0]?.status, height: 1_000, headHeight: before[0]?.headHeight })
  } finally {
    server.closeAllConnections()
    server.close()
  }
})

it('asks each node for itself and hides what its URL holds', async () => {
  const node = { rpcUrls: ['http://key:hush@127.0.0.1:1/v3/hush'], chainId: 31_337 }
  const env = { PAYMESH_NETWORKS: JSON.stringify({ test: { ethereum: node } }) }
  const { caller } = await adminCaller(stores, { operator: true, env })
  const { nodes } = await caller.chains.nodes(ETHEREUM)
  expect(nodes).toMatchObject([{ host: '127.0.0.1:1', height: null }])
  expect(nodes[0]?.fault).not.toBeNull()
  expect(JSON.stringify(nodes)).not.toContain('hush')
})

it('counts what is due in each queue, from the store', async () => {
  const { caller, deps } = await operator()
  const endpoint = await stage.endpoint()
  const [event, later] = await stage.events(endpoint.workspaceId, 2)
  if (event === undefined || later === undefined) throw new Error('no events')
  await stage.delivery(endpoint, event, { dueAt: deps.clock.now() - 90_000 })
  await stage.delivery(endpoint, later, { dueAt: deps.clock.now() + 90_000 })
  const { items, redisAwayMs } = await caller.queues.list()
  const webhooks = items.find(({ work }) => work === 'webhooks')
  expect(webhooks).toMatchObject({ due: 1, jobs: { waiting: 0, failed: 0 } })
  expect(webhooks?.oldestDueMs).toBeGreaterThan(89_000)
  expect(items.find(({ work }) => work === 'outbox')).toMatchObject({ due: 0, oldestDueMs: null })
  expect(redisAwayMs).toBeNull()
})

it('shows what each price is made of, what became of each pair, what waits, and whose clock is off', async () => {
  const { caller, deps } = await operator()
  expect((await caller.rates.board()).at).toBeNull()
  await deps.instance.rates.insert(waitingJumpAt(deps.clock.now() - 5_000))
  const board = await caller.rates.board()
  const bitcoin = { price: '92862.4', outliers: ['bitfinex'], expected: 6, sourcesMin: 3, refused: false }
  expect(board.coins[0]).toMatchObject({ name: 'BTC', ...bitcoin, waiting: null })
  expect(board.coins[1]).toMatchObject({ name: 'LTC', price: null, refused: true, offPeg: false })
  expect(board.coins.find(({ name }) => name === 'USDT')).toMatchObject({ price: null, offPeg: true })
  expect(board.fiats.find(({ name }) => name === 'ARS:official')).toMatchObject({ waiting: { price: '800' } })
  expect(board.sources.map(({ name, used, expected, dropped }) => [name, used, expected, dropped])).toMatchObject([
    ['bitfinex', 1, 9, [{ pair: 'BTC/USD', because: 'outlier' }, { pair: 'TRX/USD' }]],
    ['kraken', 11, 12, [{ because: 'unlisted' }]],
    ['yadio', 0, 9, [{ because: 'no_answer' }]],
  ])
  expect(board.clockOffsetMs).toBe(70_000)
})

it('confirms a jump that waits, with a reason and an audit row, and nothing else', async () => {
  const { caller, deps } = await operator()
  const request = {
    name: 'ARS:official' as const,
    price: '800',
    reason: 'devaluation of 13 December',
    opId: randomUUID(),
  }
  const refused = (change: object) => caller.rates.confirm({ ...request, opId: randomUUID(), ...change })
  await deps.instance.rates.insert({ ...waitingJumpAt(deps.clock.now()), guards: {} })
  await expect(refused({})).rejects.toMatchObject({ cause: { code: 'INVALID_STATE' } })
  await deps.instance.rates.insert(waitingJumpAt(deps.clock.now()))
  await expect(refused({ reason: '' })).rejects.toMatchObject({ code: 'BAD_REQUEST' })
  await expect(refused({ price: '80' })).rejects.toMatchObject({ cause: { code: 'VALIDATION_ERROR' } })
  await expect(refused({ name: 'USDT', price: '0.93' })).rejects.toMatchObject({ cause: { code: 'INVALID_STATE' } })
  expect(await deps.instance.rates.confirmed('ARS:official', deps.clock.now())).toBeNull()
  expect(await caller.rates.confirm(request)).toEqual({ name: 'ARS:official', price: '800' })
  expect(await caller.rates.confirm(request)).toEqual({ name: 'ARS:official', price: '800' })
  expect(await deps.instance.rates.confirmed('ARS:official', deps.clock.now())).toBe('800')
  expect(await deps.instance.rates.confirmed('ARS:official', deps.clock.now() + 3_600_001)).toBeNull()
  const rows = await stores.db.connection.collection('audit_log').find({ action: 'rate.confirmed' }).toArray()
  expect(rows).toMatchObject([
    { subject: 'ARS:official', detail: { price: '800', last_price: '366', reason: request.reason } },
  ])
})

it('shows the prices that apply, not those of a later time, after the clock went back', async () => {
  const { caller, deps } = await operator()
  await stores.db.connection.collection('rate_snapshots').deleteMany({})
  const now = deps.clock.now()
  const published = (at: number, price: string) =>
    deps.instance.rates.insert({
      ...{ at, fiatPerUsd: {}, guards: {}, expected: {}, sources: {}, clockOffsetMs: null },
      usdPerSymbol: { BTC: { price, sources: ['kraken'], oldestAt: at } },
    })
  await published(now - 1_000, '50000')
  await published(now + 3_600_000, '90000')
  const board = await caller.rates.board()
  expect(board.at).toBe(now - 1_000)
  expect(board.coins[0]).toMatchObject({ name: 'BTC', price: '50000' })
})

it('shows processes that live, those that went silent, and who holds which lease', async () => {
  const { caller, deps } = await operator()
  const now = deps.clock.now()
  const heartbeats = createProcessHeartbeats(stores.db)
  const state = { host: 'a', pid: 7, version: '0.1.0', node: '20', startedAt: now - 100_000, masterKeys: [] }
  await heartbeats.beat({ ...state, id: '1', name: 'outbox', seenAt: now, silent: [] })
  await heartbeats.beat({ ...state, id: '2', name: 'rates', seenAt: now, silent: ['rate-cycle'] })
  await heartbeats.beat({ ...state, id: '3', name: 'scanner', seenAt: now - 80_000, silent: [] })
  await heartbeats.beat({ ...state, id: '4', name: 'api', seenAt: now, silent: [] })
  await heartbeats.gone('4')
  await createLeaseRepository(stores.db).acquire('rates', 'me', 60_000)
  const { processes, leases, redis } = await caller.system.processes()
  expect(processes.map(({ name, verdict }) => [name, verdict])).toEqual([
    ['outbox', 'running'],
    ['rates', 'stuck'],
    ['scanner', 'missing'],
  ])
  expect(leases.find(({ id }) => id === 'rates')).toMatchObject({ owner: 'me', held: true })
  expect(redis.awayMs).toBeNull()
})
