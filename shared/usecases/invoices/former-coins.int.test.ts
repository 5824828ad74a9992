import fc from 'fast-check'
import { beforeAll, expect, it } from 'vitest'
import { type AssetId, type NetworkId, networkOf } from '#shared/domain/enumerations.ts'
import { isHeld, type Ms } from '#shared/domain/invoice/model.ts'
import { explainInvoice } from '#shared/usecases/diagnostics/explain-invoice.ts'
import { releaseDeadlines } from '#shared/usecases/networks/release-deadlines.ts'
import { recordBlockTransfers } from '#shared/usecases/payments/record-payments.ts'
import { blockWith, type Engine, openEngine } from '#test/support/engine.ts'
import { EVERY_CASE } from '#test/support/every-case.ts'
import { useStores } from '#test/support/stores.ts'
import { advanceInvoice, overdueInvoices } from './advance-invoice.ts'
import { quoteAsset } from './quote-asset.ts'
import { viewInvoice } from './view-invoice.ts'

const stores = useStores()
const NETWORKS = ['ethereum', 'bsc', 'polygon', 'base'] as const
const COINS = ['usdt_ethereum', 'usdt_bsc', 'pol_polygon', 'eth_base'] as const satisfies readonly AssetId[]
const NODE = { rpcUrls: ['http://127.0.0.1:1'], chainId: 31337, confirmations: 3, contracts: {} }
let engine: Engine
let height = 100
beforeAll(async () => {
  engine = await openEngine(stores, { ethereum: NODE, bsc: NODE, polygon: NODE, base: NODE })
})

/** Addresses that every scanner watches. */
async function watchAll(): Promise<void> {
  await engine.watchEverything()
  for (const network of NETWORKS) {
    const rows = await engine.deps.wallets.unmarkedWatches('test', 'evm', network, 1_000)
    await engine.deps.wallets.markWatched(
      'test',
      'evm',
      network,
      rows.map(({ matchKey }) => matchKey),
    )
  }
}

/** Stores the cursor of a network at the time of a block, as its scanner would after that block's payments. */
async function setCursor(network: NetworkId, time: Ms): Promise<void> {
  const { cursors, clock } = engine.deps
  height += 1
  const now = clock.now()
  const at = { height, hash: `hash${height}`, time, headHeight: height, headSeenAt: now, advancedAt: now } as const
  const state = { window: [], finalizedHeight: null, status: 'live', haltReason: null, genesisHash: 'g' } as const
  const id = `test:${network}`
  const { hash } = await cursors.create({ id, mode: 'test', network, ...at, ...state, lease: null })
  const lease = await cursors.acquireLease('test', network, 'test', 60_000)
  expect(await cursors.advance('test', network, { hash, epoch: lease?.epoch ?? 0 }, at)).toBe(true)
}

interface SentPayment {
  readonly asset: AssetId
  readonly time: Ms
  isRead: boolean
}

/** One invoice with its payer, and the scanners of its networks, which read at their own pace. */
async function openStory() {
  const { deps } = engine
  await engine.publishRates()
  await watchAll()
  const start = deps.clock.now()
  for (const network of NETWORKS) await setCursor(network, start)
  const { id } = (await engine.open({ asset: COINS[0] })).terms
  const sent: SentPayment[] = []
  const invoice = async () => {
    const found = await deps.invoices.findById(id)
    if (found === null) throw new Error('no such invoice')
    return found
  }
  const readTo = async (network: NetworkId, time: Ms): Promise<void> => {
    for (const one of sent) {
      if (one.isRead || networkOf(one.asset) !== network || one.time > time) continue
      one.isRead = true
      const method = (await invoice()).state.paymentMethods.find(({ asset }) => asset === one.asset)
      if (method === undefined) throw new Error('nobody was shown this coin')
      const { amountBase } = method.quotes[0] ?? { amountBase: 0n }
      height += 1
      const transfer = { key: `${id}-${height}`, amountBase, asset: one.asset }
      const block = blockWith(height, one.time, method, [transfer])
      await recordBlockTransfers(deps, { mode: 'test', network, epoch: 1, blocks: [block] })
      await advanceInvoice(deps, id)
    }
    await setCursor(network, time)
  }
  return {
    ...{ id, start, sent, invoice, readTo },
    choose: (asset: AssetId) => quoteAsset(deps, { invoiceId: id, asset, opId: null }),
    sweep: async () => {
      // A deadline that moves to the chain furthest behind is found there by the next sweep.
      for (let round = 0; round < NETWORKS.length + 1; round += 1)
        for (const due of await overdueInvoices(deps)) await advanceInvoice(deps, due)
    },
    types: async () => (await invoice()).outbox.map(({ type }) => type),
  }
}

// Guarantee: a shop is never told that an invoice expired and after that that it was paid in time, whatever coin the payer chose in between.
it('waits for the network of the coin that the payer chose before', async () => {
  const story = await openStory()
  const { expiresAt } = (await story.choose('usdt_bsc')).state
  await story.readTo('ethereum', expiresAt - 60_000)
  story.sent.push({ asset: 'usdt_ethereum', time: expiresAt - 10_000, isRead: false })
  engine.advance(expiresAt + 60_000 - engine.deps.clock.now())
  await story.readTo('bsc', expiresAt + 30_000)
  await story.sweep()
  expect((await story.invoice()).state.status).toBe('pending')
  // The page, the operator and the release of deadlines are told what it waits for.
  expect((await viewInvoice({ ...engine.deps, workspaces: engine.deps.workspaces }, story.id))?.isUnread).toBe(true)
  const explained = await explainInvoice(engine.deps, story.id)
  expect([explained.chain?.network, explained.deadline]).toEqual([
    'ethereum',
    expect.stringContaining('Ethereum only up to'),
  ])
  const waiting = (network: NetworkId) => engine.deps.invoices.countDueUnpaid(`test:${network}`, expiresAt, 10)
  expect([await waiting('ethereum'), await waiting('bsc')]).toEqual([1, 0])
  await story.readTo('ethereum', expiresAt + 30_000)
  await story.sweep()
  expect((await story.types()).slice(2)).toEqual(['invoice.pending', 'payment.detected', 'invoice.confirming'])
})

it('expires once an operator released the network of the former coin', async () => {
  const story = await openStory()
  const { expiresAt } = (await story.choose('usdt_bsc')).state
  engine.advance(expiresAt + 180_000 - engine.deps.clock.now())
  await story.readTo('bsc', expiresAt + 30_000)
  await story.sweep()
  const request = { mode: 'test', network: 'ethereum', through: expiresAt, dryRun: false } as const
  const why = { actor: 'cli:test', reason: 'its node is gone', opId: story.id }
  expect((await releaseDeadlines(engine.deps, { ...request, ...why })).plan.waiting).toBe(1)
  await story.sweep()
  expect((await story.types()).at(-1)).toBe('invoice.expired')
})

// Guarantee: what was decided at the positions of an invoice's chains is not applied once it has another chain.
it('expires nothing at positions that were read before the payer chose another coin', async () => {
  const story = await openStory()
  const { expiresAt } = (await story.invoice()).state
  const { deps } = engine
  const late: typeof deps.cursors.find = async (...of) => {
    const cursor = await deps.cursors.find(...of)
    // Another process, whose clock is a little behind, stores the choice now.
    engine.advance(-120_000)
    await setCursor('bsc', deps.clock.now())
    await engine.publishRates()
    expect((await story.choose('usdt_bsc')).state.paymentMethods).toHaveLength(2)
    engine.advance(120_000)
    return cursor
  }
  engine.advance(expiresAt + 1_000 - deps.clock.now())
  await story.readTo('ethereum', expiresAt)
  await advanceInvoice({ ...deps, cursors: { ...deps.cursors, find: late } }, story.id)
  expect((await story.invoice()).state.status).toBe('pending')
})

const minute = (least: number, most: number) => fc.integer({ min: least, max: most }).map((count) => count * 60_000)
const step = fc.oneof(
  fc.record({ kind: fc.constant('choose' as const), coin: fc.constantFrom(...COINS) }),
  fc.record({ kind: fc.constant('wait' as const), ms: minute(1, 9) }),
  fc.record({ kind: fc.constant('read' as const), network: fc.constantFrom(...NETWORKS), behindMs: minute(0, 12) }),
  fc.record({ kind: fc.constant('pay' as const), nth: fc.nat(3), agoMs: minute(0, 3) }),
  fc.record({ kind: fc.constant('sweep' as const) }),
)

/** In which order the scanners pass the invoice's end. */
const order = fc.shuffledSubarray([...NETWORKS], { minLength: NETWORKS.length })

type Story = Awaited<ReturnType<typeof openStory>>

async function take(story: Story, one: typeof step extends fc.Arbitrary<infer Step> ? Step : never): Promise<void> {
  const { clock } = engine.deps
  if (one.kind === 'wait') return engine.advance(one.ms)
  if (one.kind === 'sweep') return story.sweep()
  if (one.kind === 'read') {
    const known = (await engine.deps.cursors.find('test', one.network))?.time ?? 0
    return story.readTo(one.network, Math.max(known, clock.now() - one.behindMs))
  }
  const { state } = await story.invoice()
  if (one.kind === 'choose') {
    if (state.status !== 'pending' || clock.now() >= state.expiresAt) return
    if (state.paymentMethods.some(({ asset }) => asset === one.coin)) return
    // Rates are good for minutes, and a network is offered while its node answers.
    await engine.publishRates()
    engine.advance(2_000)
    const network = networkOf(one.coin)
    await setCursor(network, (await engine.deps.cursors.find('test', network))?.time ?? 0)
    await story.choose(one.coin)
    return
  }
  const shown = state.paymentMethods.filter(isHeld)
  const method = shown[one.nth % shown.length]
  if (method === undefined) return
  const read = (await engine.deps.cursors.find('test', method.network))?.time ?? 0
  // A block that its scanner has not read.
  const time = Math.max(read + 1, method.from, clock.now() - one.agoMs)
  story.sent.push({ asset: method.asset, time, isRead: false })
}

// Guarantee: an invoice expires when, and only when, every chain on which it could be paid is read past its end without money in time.
it('expires no invoice that was paid in time, in any order of coins, payments and readings', {
  timeout: 300_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 14 }), order, async (steps, reading) => {
      const story = await openStory()
      for (const one of steps) {
        await take(story, one)
        const { state } = await story.invoice()
        if (state.status !== 'expired') continue
        for (const network of new Set(state.paymentMethods.map((method) => method.network)))
          expect((await engine.deps.cursors.find('test', network))?.time).toBeGreaterThanOrEqual(state.expiresAt)
      }
      const { expiresAt } = (await story.invoice()).state
      engine.advance(Math.max(0, expiresAt + 3_600_000 - engine.deps.clock.now()))
      for (const network of reading) {
        await story.readTo(network, engine.deps.clock.now())
        await story.sweep()
      }
      const { state } = await story.invoice()
      const isInTime = state.ledger.some(({ counted, late }) => counted && !late)
      const expired = (await story.types()).filter((type) => type === 'invoice.expired')
      expect(expired).toHaveLength(isInTime ? 0 : 1)
      expect(
        await engine.deps.invoices.isAnyDue(
          NETWORKS.map((network) => `test:${network}`),
          engine.deps.clock.now(),
        ),
      ).toBe(false)
    }),
    { numRuns: EVERY_CASE ? 200 : 24 },
  )
})
