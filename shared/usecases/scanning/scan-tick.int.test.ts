import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { createWatchIndex } from '#shared/chains/families/watch-index.ts'
import type { BlockRef } from '#shared/ports/scanned-blocks.ts'
import { type ChainClient, NodeUnreliable, type OutdatedNode } from '#shared/ports/scanning.ts'
import { deadlinesPassUntil } from '#shared/usecases/networks/known-until.ts'
import { recordBlockTransfers } from '#shared/usecases/payments/record-payments.ts'
import { blockWith, type Engine, openEngine, paymentMethodOf } from '#test/support/engine.ts'
import { useStores } from '#test/support/stores.ts'
import { proveDeadlines } from './prove-deadlines.ts'
import { startChainScanner } from './scan-chain.ts'
import type { ScanSession, ScanSource } from './scan-session.ts'
import { confirmThroughCursor, scanTick } from './scan-tick.ts'

const stores = useStores()
let engine: Engine

beforeAll(async () => {
  engine = await openEngine(stores)
})

const SOURCE = {
  mode: 'test',
  network: 'ethereum',
  family: 'evm',
  createIndex: createWatchIndex,
  pollMs: 10,
  finalityDepth: 10,
  batchMax: 10,
  dropAfterMs: 60_000,
  development: false,
} as const
/** A node whose blocks are those of `blockWith`, but for what a test says. */
const clientOf = (client: Partial<ChainClient>) => {
  const blockAt = async (height: number) => ({
    height,
    hash: `hash${height}`,
    parentHash: `hash${height - 1}`,
    time: 0,
  })
  return { blockAt, ...client } as ChainClient
}
const scanDeps = () => engine.deps as unknown as ScanSession['deps']

async function sessionWith(client: ChainClient): Promise<ScanSession> {
  const cursor = await engine.deps.cursors.find('test', 'ethereum')
  if (cursor === null) throw new Error('no cursor')
  const lease = { epoch: cursor.lease?.epoch ?? 0, isHeld: () => true, release: async () => {} }
  const source: ScanSource = { ...SOURCE, client }
  return { deps: scanDeps(), source, lease, index: createWatchIndex(), missingSince: new Map(), cursor }
}

describe('a payment that no second node vouched for', () => {
  // Guarantee: on a slow chain a second node that was away for a moment does not cost a whole block.
  it('is asked about again before the next block comes', async () => {
    const invoice = await engine.open({ asset: 'usdt_ethereum' })
    const transfers = [{ key: 'vouched', amountBase: 25_000_000n }]
    const block = blockWith(8, engine.deps.clock.now(), paymentMethodOf(invoice), transfers)
    await recordBlockTransfers(engine.deps, { mode: 'test', network: 'ethereum', blocks: [block], epoch: 1 })
    await engine.setCursor(10, engine.deps.clock.now())
    let away = true
    const session = await sessionWith(
      clientOf({
        head: async () => ({ height: 10, hash: 'hash10', finalizedHeight: null }),
        disputed: async () => {
          if (away) throw new NodeUnreliable('away')
          return new Set()
        },
      }),
    )
    const state = async () => (await engine.deps.payments.listByInvoice(invoice.terms.id))[0]?.state
    engine.advance(5_000)
    await scanTick(session)
    expect(await state()).toBe('detected')
    away = false
    engine.advance(5_000)
    await scanTick(session)
    expect(await state()).toBe('confirmed')
  })
})

describe('a payment that waits for a node that is down', () => {
  // The engine's rates are good for minutes.
  let advanced = 0
  afterEach(() => engine.advance(-advanced))

  // Guarantee: nothing confirms on one node's word, and whoever asks learns which node it waits for.
  it.each([
    ['a second one to call it final', null, false],
    ['a second one to show it', 10, false],
    ['a second one whose final block stands still', 1, true],
  ] as const)(
    'for %s: the cursor says so, and operators once it is missed for long, until it is back',
    async (_what, finalizedHeight, isOld) => {
      const invoice = await engine.open({ asset: 'usdt_ethereum' })
      const transfers = [{ key: `silent-${finalizedHeight}`, amountBase: 25_000_000n }]
      const block = blockWith(8, engine.deps.clock.now(), paymentMethodOf(invoice), transfers)
      await recordBlockTransfers(engine.deps, { mode: 'test', network: 'ethereum', blocks: [block], epoch: 1 })
      await stores.db.connection
        .collection('payments')
        .updateMany({ invoiceId: invoice.terms.id }, { $set: { needsFinality: true } })
      await engine.setCursor(10, engine.deps.clock.now())
      const hosts = ['node-b:8545']
      const outdated = [{ host: 'node-b:8545', block: 'final', height: 1 }] as OutdatedNode[]
      const session = await sessionWith(
        clientOf({
          head: async () => ({ height: 10, hash: 'hash10', finalizedHeight: hosts.length > 0 ? finalizedHeight : 10 }),
          silence: () => ({
            ...(isOld ? { hosts: [], outdated } : { hosts, outdated: [] }),
            failing: [],
            answering: 1,
            differing: [],
            unheard: isMissed ? ['node-b:8545'] : [],
          }),
          disputed: async () => {
            if (hosts.length > 0) throw new NodeUnreliable('node-b is away')
            return new Set()
          },
        }),
      )
      let isMissed = false
      advanced = 0
      const tick = async (afterMs: number) => {
        advanced += afterMs
        engine.advance(afterMs)
        await scanTick(session)
        const id = 'halted_chain:test:ethereum:unheard_node'
        const exception = await engine.deps.exceptions.findById(id)
        const [payment] = await engine.deps.payments.listByInvoice(invoice.terms.id)
        const waits = (await engine.deps.cursors.find('test', 'ethereum'))?.waitReason ?? null
        return [payment?.state, waits, exception?.closedAt === null ? exception.detail : null]
      }
      const named = expect.stringContaining('node-b:8545')
      expect(await tick(5_000)).toEqual(['detected', named, null])
      expect(await tick(5_000)).toEqual(['detected', named, null])
      isMissed = true
      const why = isOld ? 'the final block of node-b:8545 stands still at 1' : 'node-b:8545 did not respond'
      expect(await tick(15 * 60_000)).toEqual(['detected', named, expect.stringContaining(why)])
      isMissed = false
      hosts.pop()
      outdated.pop()
      expect(await tick(5_000)).toEqual(['confirmed', null, null])
    },
  )
})

// Guarantee: the inbox names a node that decisions are made without, until it answers again; also after a restart in between.
it('a node that is not waited for any more is in the inbox until it answers', async () => {
  await engine.setCursor(10, engine.deps.clock.now())
  let unheard = ['node-b:8545']
  const head = async () => ({ height: 10, hash: 'hash10', finalizedHeight: null })
  const silence = () => ({ hosts: [], failing: [], outdated: [], differing: [], answering: 2, unheard })
  const row = async (session: ScanSession) => {
    await confirmThroughCursor(session)
    const found = await engine.deps.exceptions.findById('halted_chain:test:ethereum:unheard_node')
    return found?.closedAt === null ? found.detail : null
  }
  const session = await sessionWith(clientOf({ head, silence }))
  expect(await row(session)).toContain('node-b:8545 gave no usable answer for ten minutes')
  unheard = []
  expect(await row(session)).toBeNull()
  unheard = ['node-b:8545']
  expect(await row(session)).toContain('node-b:8545')
  unheard = []
  expect(await row(await sessionWith(clientOf({ head, silence })))).toBeNull()
})

// Guarantee: no invoice expires by the blocks of one of two nodes while the other one has different ones, however long; what is read meanwhile is credited.
it('nodes with different settled blocks let no deadline pass until they agree', async () => {
  const time = engine.deps.clock.now()
  await engine.setCursor(10, time)
  let differing = [{ host: 'node-b:8545', height: 5 }]
  const silence = () => ({ hosts: [], failing: [], outdated: [], differing, answering: 2, unheard: [] })
  const session = await sessionWith(clientOf({ silence }))
  const until = async () => {
    await proveDeadlines(session)
    const cursor = await engine.deps.cursors.find('test', 'ethereum')
    return cursor === null ? null : { isPast: deadlinesPassUntil(cursor, 12_000) >= time, reason: cursor.waitReason }
  }
  const reason = expect.stringContaining('node-b:8545 has another block 5 than the node in use')
  expect(await until()).toEqual({ isPast: false, reason })
  engine.advance(3_600_000)
  expect(await until()).toEqual({ isPast: false, reason })
  differing = []
  expect(await until()).toEqual({ isPast: true, reason: null })
})

describe('a node whose blocks do not stand on each other', () => {
  // Guarantee: a node that contradicts itself is asked again after the pause, not as fast as it answers.
  it('is no progress, and moves nothing', async () => {
    const now = engine.deps.clock.now()
    await engine.setCursor(10, now)
    const next = { height: 11, hash: 'hash11', parentHash: 'another10', time: now, transfers: [] }
    const session = await sessionWith(
      clientOf({
        head: async () => ({ height: 11, hash: 'hash11', finalizedHeight: null }),
        scan: async () => [next],
        blockAt: async () => ({ height: 10, hash: 'hash10', parentHash: 'hash9', time: now }),
      }),
    )
    const before = session.cursor
    session.cursor = { ...before, window: [[10, 'hash10']] }
    expect(await scanTick(session)).toBe(false)
    expect(await engine.deps.cursors.find('test', 'ethereum')).toEqual(before)
  })
})

describe('a first start', () => {
  // Guarantee: a scanner that just began goes on when the newest block of its node is replaced.
  it('survives a reorganisation of the block that was the head', async () => {
    const at = (height: number, branch: string): BlockRef => ({
      height,
      hash: `${height}${height < 100 ? '' : branch}`,
      parentHash: `${height - 1}${height <= 100 ? '' : branch}`,
      time: 1_700_000_000_000 + height,
    })
    let [branch, head] = ['a', 100]
    const client = clientOf({
      verify: async () => [],
      genesisHash: async () => '0',
      head: async () => ({ height: head, hash: at(head, branch).hash, finalizedHeight: null }),
      blockAt: async (height) => (height > head ? null : at(height, branch)),
      scan: async (from, to) =>
        Array.from({ length: to - from + 1 }, (_, index) => ({ ...at(from + index, branch), transfers: [] })),
    })
    const scanner = startChainScanner(scanDeps(), { ...SOURCE, network: 'bsc', client })
    const cursor = () => engine.deps.cursors.find('test', 'bsc')
    try {
      await vi.waitFor(async () => expect(await cursor()).toMatchObject({ hash: '100a' }), 5_000)
      ;[branch, head] = ['b', 102]
      await vi.waitFor(async () => expect(await cursor()).toMatchObject({ hash: '102b' }), 5_000)
    } finally {
      await scanner.stop()
    }
  })
})

describe('a node that is behind what was scanned', () => {
  // Guarantee: whoever asks why nothing moves is given both heights, and the words go when it moves again.
  it('is named by the cursor once that lasts, and no longer when it has caught up', async () => {
    await engine.setCursor(10, engine.deps.clock.now())
    let height = 9
    const head = async () => ({ height, hash: `hash${height}`, finalizedHeight: null })
    const session = await sessionWith(clientOf({ head }))
    const reason = async () => (await engine.deps.cursors.find('test', 'ethereum'))?.waitReason ?? null
    await scanTick(session)
    expect(await reason()).toBeNull()
    engine.advance(60_000)
    await scanTick(session)
    expect(await reason()).toMatch(/newest block is 9, but block 10 is already scanned\. Scanning waits/)
    height = 10
    await scanTick(session)
    expect(await reason()).toBeNull()
  })
})
