import { expect, it, vi } from 'vitest'
import type { AssetId, InvoiceStatus } from '#shared/domain/enumerations.ts'
import { totals } from '#shared/domain/invoice/totals.ts'
import type { Invoice } from '#shared/ports/invoices.ts'
import { advanceInvoice, overdueInvoices } from '#shared/usecases/invoices/advance-invoice.ts'
import { cancelInvoice } from '#shared/usecases/invoices/cancel-invoice.ts'
import { type ChainScanner, startChainScanner } from '#shared/usecases/scanning/scan-chain.ts'
import { deriveAhead } from '#shared/usecases/wallets/address-headroom.ts'
import { type Engine, openEngine, paymentMethodOf } from '#test/support/engine.ts'
import { CONFIRMATIONS, useScanStage, WATCHED } from '#test/support/scan-stage.ts'
import { useStores } from '#test/support/stores.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
/** Of the stillness, in which the clock moves in steps of twenty minutes. */
const STEPS = 72
const STEP_MS = 20 * MINUTE
const DUE = 25_000_000n

const stores = useStores()
const stage = useScanStage(stores)

/** What becomes of an invoice while nobody scans. Payments come after so many minutes of the stillness. */
interface Case {
  readonly before?: 'expired' | 'cancelled'
  readonly pays: readonly { readonly after: number; readonly amount: bigint; readonly asset?: AssetId }[]
  readonly status: InvoiceStatus
  /** Whether each payment was on time, late, or outside of the sums. */
  readonly evaluated: readonly ('on time' | 'late' | 'outside')[]
  readonly inbox?: readonly string[]
}

const CASES: Readonly<Record<string, Case>> = {
  'on time': { pays: [{ after: 5, amount: DUE }], status: 'paid', evaluated: ['on time'] },
  'on time by one second': { pays: [{ after: 19 + 58 / 60, amount: DUE }], status: 'paid', evaluated: ['on time'] },
  'in two parts on time': {
    pays: [
      { after: 3, amount: DUE - 5_000_000n },
      { after: 4, amount: 5_020_000n },
    ],
    status: 'overpaid',
    evaluated: ['on time', 'on time'],
    inbox: ['over'],
  },
  'one base unit too much': {
    pays: [{ after: 6, amount: DUE + 1n }],
    status: 'paid',
    evaluated: ['on time'],
  },
  'a cent and one base unit too much': {
    pays: [{ after: 6, amount: DUE + 10_001n }],
    status: 'overpaid',
    evaluated: ['on time'],
    inbox: ['over'],
  },
  'one base unit short': { pays: [{ after: 6, amount: DUE - 1n }], status: 'paid', evaluated: ['on time'] },
  'a rest of a hundredth of a percent, soon after the deadline': {
    pays: [
      { after: 5, amount: DUE - 15_000n },
      { after: 40, amount: 20_000n },
    ],
    status: 'paid',
    evaluated: ['on time', 'late'],
  },
  'a part': { pays: [{ after: 5, amount: DUE / 2n }], status: 'expired', evaluated: ['on time'], inbox: ['partial'] },
  'a part, and the rest soon after the deadline': {
    pays: [
      { after: 5, amount: DUE / 2n },
      { after: 40, amount: DUE / 2n },
    ],
    status: 'paid',
    evaluated: ['on time', 'late'],
  },
  'soon after the deadline': { pays: [{ after: 41, amount: DUE }], status: 'paid', evaluated: ['late'] },
  'long after the deadline': {
    pays: [{ after: 700, amount: DUE }],
    status: 'expired',
    evaluated: ['late'],
    inbox: ['late'],
  },
  'another token': {
    pays: [{ after: 7, amount: DUE, asset: 'usdc_ethereum' }],
    status: 'expired',
    evaluated: ['outside'],
    inbox: ['wrong_asset'],
  },
  coins: {
    pays: [{ after: 8, amount: 10n ** 16n, asset: 'eth_ethereum' }],
    status: 'expired',
    evaluated: ['outside'],
    inbox: ['wrong_asset'],
  },
  'after it expired': {
    before: 'expired',
    pays: [{ after: 300, amount: DUE }],
    status: 'expired',
    evaluated: ['late'],
    inbox: ['late'],
  },
  'after it was cancelled': {
    before: 'cancelled',
    pays: [{ after: 9, amount: DUE }],
    status: 'cancelled',
    evaluated: ['on time'],
    inbox: ['cancelled_paid'],
  },
  nothing: { pays: [], status: 'expired', evaluated: [] },
}

/** Moves the clock, keeps prices fresh, and mines a block of that very time. */
async function moveOn(engine: Engine, ms: number): Promise<void> {
  engine.advance(ms)
  await engine.publishRates()
  const seconds = Math.floor(engine.deps.clock.now() / 1_000)
  await stage.chain.rpc('evm_setNextBlockTimestamp', [seconds])
  await stage.chain.mine()
}

/** A scanner by the engine's clock, from the cursor where the last one stopped. */
function scan(engine: Engine): ChainScanner {
  const { clock, notifier, catalog } = engine.deps
  return startChainScanner({ ...stage.deps, clock, notifier, catalog }, stage.source({ development: false }))
}

async function untilHead(scanner: ChainScanner): Promise<void> {
  const head = await stage.height()
  await vi.waitFor(
    async () => {
      scanner.wake()
      expect((await stage.cursor())?.height).toBe(head)
    },
    { timeout: 20_000, interval: 20 },
  )
}

async function sweep(engine: Engine): Promise<void> {
  for (const id of await overdueInvoices(engine.deps)) await advanceInvoice(engine.deps, id)
}

interface SentTransfer {
  readonly txHash: string
  readonly to: string
  readonly amount: bigint
  readonly asset: AssetId
}

async function stored(engine: Engine, { terms }: Invoice): Promise<Invoice> {
  const invoice = await engine.deps.invoices.findById(terms.id)
  if (invoice === null) throw new Error('no invoice')
  return invoice
}

/** The kinds of a payment's or an invoice's entries in the inbox, opened here or by the scanner. */
async function inboxOf(invoice: Invoice): Promise<readonly string[]> {
  const unmatchedTransfers = await stores.db.connection
    .collection('exceptions')
    .find({ paymentKey: { $in: invoice.state.ledger.map(({ payment }) => payment) } })
    .toArray()
  const kinds = [
    ...invoice.state.exceptions.map(({ exception }) => exception),
    ...unmatchedTransfers.map((row) => row['kind']),
  ]
  return [...new Set(kinds.map(String))]
}

// Guarantee: money that came while nobody looked is credited or in the inbox, once, and checked by the time at which it came.
it.each([
  ['the scanner alone was down', true],
  ['the whole product was down', false],
])(
  'after 24 hours in which %s, every payment is credited or in the inbox, none twice',
  async (_what, sweeps) => {
    const startedAt = stores.runtime.clock.now()
    // The engine's clock stands still between its steps: a slow machine makes no payment late.
    const standing = { now: () => startedAt }
    const still = { ...stores, runtime: { ...stores.runtime, clock: standing } }
    const engine = await openEngine(still, {
      ethereum: { rpcUrls: [stage.chain.url], chainId: 31_337, confirmations: CONFIRMATIONS },
    })
    const first = scan(engine)
    await moveOn(engine, MINUTE)
    await untilHead(first)

    await deriveAhead({ ...engine.deps, ...engine }, 96)
    await vi.waitFor(async () => {
      first.wake()
      expect(await engine.deps.wallets.unmarkedWatches('test', 'evm', 'ethereum', 1)).toEqual([])
    })
    const invoices = new Map<string, Invoice>()
    for (const before of ['expired', undefined] as const) {
      for (const [name, one] of Object.entries(CASES)) {
        const isEarly = one.before === 'expired'
        if (isEarly === (before === 'expired')) invoices.set(name, await engine.open({ asset: 'usdt_ethereum' }))
      }
      if (before === undefined) continue
      await moveOn(engine, 2 * HOUR)
      await moveOn(engine, MINUTE)
      await untilHead(first)
      await sweep(engine)
    }
    const cancelled = invoices.get('after it was cancelled')
    if (cancelled === undefined) throw new Error('no invoice')
    const { workspaceId, id } = cancelled.terms
    await cancelInvoice(engine.deps, { workspaceId, mode: 'test', invoiceId: id, opId: 'cancel' })
    await first.stop()

    const sent: SentTransfer[] = []
    const plan = Object.entries(CASES).flatMap(([name, { pays }]) => pays.map((pay) => ({ name, ...pay })))
    const strange = { name: 'nobody', after: 100, amount: DUE, asset: 'usdt_ethereum' as const }
    let nowMs = 0
    for (const { name, after, amount, asset = 'usdt_ethereum' } of [...plan, strange].sort(
      (a, b) => a.after - b.after,
    )) {
      for (; nowMs + STEP_MS <= after * MINUTE; nowMs += STEP_MS) {
        await moveOn(engine, STEP_MS)
        if (sweeps) await sweep(engine)
      }
      const restMs = Math.max(0, after * MINUTE - nowMs)
      nowMs += restMs
      const invoice = invoices.get(name)
      const to = invoice === undefined ? WATCHED.address : paymentMethodOf(invoice).address
      const { txHash } = await stage.chain.pay({ asset, to, amountBase: amount })
      sent.push({ txHash, to, amount, asset })
      await moveOn(engine, restMs)
    }
    for (; nowMs < STEPS * STEP_MS; nowMs += STEP_MS) {
      await moveOn(engine, STEP_MS)
      if (sweeps) await sweep(engine)
    }
    await stage.chain.mine(CONFIRMATIONS)

    const second = scan(engine)
    await untilHead(second)
    await second.stop()
    for (const invoice of invoices.values()) await advanceInvoice(engine.deps, invoice.terms.id)
    engine.advance(2_000)
    await sweep(engine)

    const rows = await stores.db.connection.collection('payments').find().toArray()
    expect(rows.map((row) => `${row['txHash']} ${row['amountBase']} confirmed`).sort()).toEqual(
      sent.map(({ txHash, amount }) => `${txHash} ${amount} confirmed`).sort(),
    )
    expect(rows.map((row) => row['state'])).toEqual(rows.map(() => 'confirmed'))
    const outcome: Record<string, object> = {}
    for (const [name, opened] of invoices) {
      const invoice = await stored(engine, opened)
      const ledger = invoice.state.ledger.toSorted((a, b) => a.firstSeenAt - b.firstSeenAt)
      const inSums = sent.filter(({ to, asset }) => to === paymentMethodOf(opened).address && asset === 'usdt_ethereum')
      expect(totals(invoice.state).receivedBase).toBe(inSums.reduce((sum, { amount }) => sum + amount, 0n))
      const announced = invoice.outbox
        .filter(({ type }) => type === 'payment.detected')
        .map((entry) => entry.payment?.['id'])
      expect(new Set(announced).size).toBe(announced.length)
      outcome[name] = {
        status: invoice.state.status,
        evaluated: ledger.map((row) => (row.counted ? (row.late ? 'late' : 'on time') : 'outside')),
        inbox: await inboxOf(invoice),
      }
    }
    const expected = Object.entries(CASES).map(([name, { status, evaluated, inbox = [] }]) => [
      name,
      { status, evaluated, inbox },
    ])
    expect(outcome).toEqual(Object.fromEntries(expected))
    const unmatched = await stores.db.connection
      .collection('exceptions')
      .find({ kind: 'unmatched', closedAt: null })
      .toArray()
    expect(unmatched).toHaveLength(1)
  },
  120_000,
)

it('a payment forty days after the deadline is stored, late and in the inbox', async () => {
  const engine = await openEngine(stores, {
    ethereum: { rpcUrls: [stage.chain.url], chainId: 31_337, confirmations: CONFIRMATIONS },
  })
  const scanner = scan(engine)
  await moveOn(engine, MINUTE)
  await untilHead(scanner)
  const invoice = await engine.open({ asset: 'usdt_ethereum' })
  await moveOn(engine, 40 * 24 * HOUR)
  await stage.chain.pay({ asset: 'usdt_ethereum', to: paymentMethodOf(invoice).address, amountBase: DUE })
  await moveOn(engine, MINUTE)
  await stage.chain.mine(CONFIRMATIONS)
  await untilHead(scanner)
  await scanner.stop()
  engine.advance(2_000)
  await sweep(engine)
  await sweep(engine)
  const { state } = await stored(engine, invoice)
  expect(state).toMatchObject({ status: 'expired', ledger: [{ late: true, counted: true, confirmed: true }] })
  expect(state.exceptions).toEqual([{ exception: 'late', payment: state.ledger[0]?.payment }])
})

// Guarantee: a block's time says when it was made, not whom it pays; clocks that differ lose no payment.
it('a payment in a block that calls itself older than its invoice is credited', async () => {
  const engine = await openEngine(stores, {
    ethereum: { rpcUrls: [stage.chain.url], chainId: 31_337, confirmations: CONFIRMATIONS },
  })
  const scanner = scan(engine)
  await moveOn(engine, MINUTE)
  await untilHead(scanner)
  engine.advance(MINUTE)
  const invoice = await engine.open({ asset: 'usdt_ethereum' })
  await stage.chain.pay({ asset: 'usdt_ethereum', to: paymentMethodOf(invoice).address, amountBase: DUE })
  await stage.chain.mine(CONFIRMATIONS)
  await untilHead(scanner)
  await scanner.stop()
  await advanceInvoice(engine.deps, invoice.terms.id)
  const { state } = await stored(engine, invoice)
  expect(state.ledger[0]?.firstSeenAt).toBeLessThan(invoice.terms.createdAt)
  expect(state).toMatchObject({ status: 'paid', ledger: [{ late: false, counted: true }] })
})
