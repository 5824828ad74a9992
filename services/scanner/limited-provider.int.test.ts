import { afterEach, expect, it, vi } from 'vitest'
import { DEVELOPMENT_PAYER } from '#dev/local-chain/pay.ts'
import type { Invoice } from '#shared/ports/invoices.ts'
import { advanceInvoice, overdueInvoices } from '#shared/usecases/invoices/advance-invoice.ts'
import { deadlinesPassUntil } from '#shared/usecases/networks/known-until.ts'
import { type ChainScanner, startChainScanner } from '#shared/usecases/scanning/scan-chain.ts'
import { usualPace } from '#shared/usecases/scanning/thrifty-pace.ts'
import { sampleOf } from '#test/support/depth.ts'
import { type Engine, openEngine, paymentMethodOf } from '#test/support/engine.ts'
import { startLimitedNode } from '#test/support/limited-node.ts'
import { CONFIRMATIONS, useScanStage } from '#test/support/scan-stage.ts'
import { useStores } from '#test/support/stores.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const BLOCK_MS = 12_000
const DUE = 25_000_000n
/** Passes on what it gets to its first argument: coins that arrive inside a call. */
const FORWARDER = `0x${'a1'.repeat(20)}`
const FORWARD = '0x6000600060006000346000355af100'
/** The clock moves by a block in each of these intervals: what a busy machine needs is far below the 100 blocks of an invoice's life. */
const PATIENCE = { timeout: 60_000, interval: 200 }

interface Block {
  readonly transactions: readonly string[]
}

const stores = useStores()
const stage = useScanStage(stores)
const ends: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

/** An installation by a clock that stands between its steps, whose only node is a free provider. */
async function openInstallation(source: 'full' | 'thrifty') {
  const startedAt = stores.runtime.clock.now()
  const still = { ...stores, runtime: { ...stores.runtime, clock: { now: () => startedAt } } }
  const provider = await startLimitedNode(stage.chain.url)
  ends.push(provider.close)
  await stage.chain.rpc('anvil_setCode', [FORWARDER, FORWARD])
  const engine = await openEngine(still, {
    ethereum: { rpcUrls: [stage.chain.url], chainId: 31_337, confirmations: CONFIRMATIONS },
  })
  const pace = usualPace(BLOCK_MS, async () => false)
  const scan = (): ChainScanner => {
    const { clock, notifier, catalog } = engine.deps
    const client = stage.source({}, 31_337, [provider.url]).client
    const thrifty = source === 'thrifty' ? { thrifty: pace } : {}
    const scanner = startChainScanner(
      { ...stage.deps, clock, notifier, catalog },
      stage.source({ client, development: false, ...thrifty }),
    )
    ends.push(() => scanner.stop())
    return scanner
  }
  return { engine, provider, scan }
}

/** Moves the clock, keeps prices fresh, and mines a block of that very time. */
async function moveOn(engine: Engine, ms: number): Promise<void> {
  engine.advance(ms)
  await engine.publishRates()
  await stage.chain.rpc('evm_setNextBlockTimestamp', [Math.floor(engine.deps.clock.now() / 1_000)])
  await stage.chain.mine()
}

async function decide(engine: Engine, invoices: Iterable<Invoice>): Promise<void> {
  for (const id of await overdueInvoices(engine.deps)) await advanceInvoice(engine.deps, id)
  for (const { terms } of invoices) await advanceInvoice(engine.deps, terms.id)
}

// Guarantee: what a merchant can rent for nothing decides every invoice as an own node does, in both modes.
it.each(sampleOf(['full', 'thrifty'] as const, 1))(
  'with a provider that limits ranges and rates, %s scanning decides every invoice',
  async (source) => {
    const { engine, provider, scan } = await openInstallation(source)
    const first = scan()
    await moveOn(engine, MINUTE)
    await vi.waitFor(async () => expect((await stage.cursor())?.source ?? 'full').toBe(source), PATIENCE)
    const open = (asset: 'usdt_ethereum' | 'eth_ethereum') => engine.open({ asset })
    const invoices = {
      exact: await open('usdt_ethereum'),
      partial: await open('usdt_ethereum'),
      completed: await open('usdt_ethereum'),
      late: await open('usdt_ethereum'),
      reorganised: await open('usdt_ethereum'),
      internal: await open('eth_ethereum'),
    }
    const all = () => Object.values(invoices)
    const stored = async ({ terms }: Invoice) => (await engine.deps.invoices.findById(terms.id))?.state
    /** Steps of the chain's pace until it holds. */
    const until = (check: () => Promise<void>, stepMs = BLOCK_MS) =>
      vi.waitFor(async () => {
        await moveOn(engine, stepMs)
        await decide(engine, all())
        await check()
      }, PATIENCE)
    const pay = async (invoice: Invoice, amountBase: bigint) =>
      stage.chain.pay({ asset: 'usdt_ethereum', to: paymentMethodOf(invoice).address, amountBase })
    const received = async (invoice: Invoice) => {
      const live = (await stored(invoice))?.ledger.filter(({ state }) => state !== 'orphaned') ?? []
      return live.reduce((sum, { amountBase }) => sum + amountBase, 0n)
    }

    await moveOn(engine, MINUTE)
    await pay(invoices.exact, DUE)
    await pay(invoices.partial, DUE / 2n)
    await pay(invoices.completed, DUE - 5_000_000n)
    const coin = paymentMethodOf(invoices.internal)
    const coinBase = coin.quotes[0]?.amountBase ?? 0n
    const value = `0x${coinBase.toString(16)}`
    const data = `0x${coin.address.slice(2).toLowerCase().padStart(64, '0')}`
    await stage.chain.rpc('eth_sendTransaction', [
      { from: DEVELOPMENT_PAYER, to: FORWARDER, value, data, gas: '0x7a120' },
    ])
    await until(async () => {
      expect(await received(invoices.exact)).toBe(DUE)
      expect(await received(invoices.internal)).toBe(coinBase)
      expect((await stored(invoices.partial))?.status).toBe('partial')
    })
    await pay(invoices.completed, 5_000_000n)
    await moveOn(engine, BLOCK_MS)

    // The block of a payment is replaced by an empty one; then the very same transaction is mined again.
    await pay(invoices.reorganised, DUE)
    await moveOn(engine, BLOCK_MS)
    const paidIn = await stage.height()
    const { transactions } = (await stage.chain.rpc('eth_getBlockByNumber', ['latest', false])) as Block
    const raw = await Promise.all(transactions.map((hash) => stage.chain.rpc('eth_getRawTransactionByHash', [hash])))
    await vi.waitFor(async () => {
      await decide(engine, all())
      engine.advance(1_000)
      expect(await received(invoices.reorganised)).toBe(DUE)
    }, PATIENCE)
    await stage.chain.reorg((await stage.height()) - paidIn + 1, [])
    await until(async () => expect(await received(invoices.reorganised)).toBe(0n))
    for (const transaction of raw) await stage.chain.rpc('eth_sendRawTransaction', [transaction])
    await until(async () => {
      for (const name of ['exact', 'completed', 'reorganised', 'internal'] as const) {
        expect(await stored(invoices[name]), name).toMatchObject({ status: 'paid' })
      }
    })

    // The deadline passes only when the range up to it was read.
    await moveOn(engine, 25 * MINUTE)
    await until(async () => {
      expect((await stored(invoices.late))?.status).toBe('expired')
      expect((await stored(invoices.partial))?.status).toBe('expired')
    })
    await moveOn(engine, 5 * MINUTE)
    await pay(invoices.late, DUE)
    // Money after the end is found within an hour of blocks that no reorganisation reaches.
    await stage.chain.mine(70)
    await moveOn(engine, HOUR + 10 * MINUTE)
    await until(async () => {
      expect(await received(invoices.late)).toBe(DUE)
    }, 5 * MINUTE)
    await until(async () =>
      expect((await stored(invoices.late))?.ledger).toMatchObject([{ late: true, confirmed: true }]),
    )

    // Nobody scans for 24 hours in which the deadline passes and the money comes in time.
    const away: Record<string, Invoice> = {}
    // A network whose head was seen long ago, by this clock, offers nothing until it is seen again.
    for (const name of ['paid', 'unpaid']) {
      await until(async () => {
        away[name] = await open('usdt_ethereum')
      })
    }
    const { paid, unpaid } = away as Record<'paid' | 'unpaid', Invoice>
    await first.stop()
    await moveOn(engine, 5 * MINUTE)
    await pay(paid, DUE)
    await moveOn(engine, BLOCK_MS)
    for (let hours = 0; hours < 24; hours += 2) {
      await moveOn(engine, 2 * HOUR)
      await decide(engine, Object.values(away))
    }
    expect([(await stored(paid))?.status, (await stored(unpaid))?.status]).toEqual(['pending', 'pending'])
    Object.assign(invoices, away)
    scan()
    await until(async () => {
      expect(await stored(paid)).toMatchObject({ status: 'paid', ledger: [{ late: false }] })
      expect((await stored(unpaid))?.status).toBe('expired')
    })

    const cursor = await stage.cursor()
    expect(cursor).toMatchObject({ haltReason: null })
    expect(cursor === null ? 0 : deadlinesPassUntil(cursor, BLOCK_MS)).toBeGreaterThan(0)
    const payments = (await stage.payments()).filter(({ state }) => state !== 'orphaned')
    expect(payments.map(({ state }) => state)).toEqual(payments.map(() => 'confirmed'))
    expect(payments.map(({ amount }) => amount).sort()).toEqual(
      [DUE, DUE / 2n, DUE - 5_000_000n, 5_000_000n, DUE, DUE, DUE, coinBase].map(String).sort(),
    )
    expect(provider.refused.rate).toBeGreaterThan(0)
    expect(provider.refused.range).toBeGreaterThan(0)
  },
)
