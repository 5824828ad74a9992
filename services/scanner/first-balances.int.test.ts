import { expect, it, vi } from 'vitest'
import { createInvoiceRepository } from '#shared/db/invoices/invoice-repository.ts'
import type { AssetId } from '#shared/domain/enumerations.ts'
import { deadlinesPassUntil } from '#shared/usecases/networks/known-until.ts'
import { USUAL_LOOKS } from '#shared/usecases/scanning/thrifty-pace.ts'
import { readsFunds, useBalanceStage } from '#test/support/balance-stage.ts'
import { sampleInvoice, samplePaymentMethod } from '#test/support/db-samples.ts'
import { WATCHED } from '#test/support/scan-stage.ts'
import { useStores } from '#test/support/stores.ts'
import { briskPace } from '#test/support/thrifty-pace.ts'

const PATIENCE = { timeout: 20_000, interval: 20 }
const HOUR_MS = 3_600_000
const WORD = 64
const STRANGER = `0x${'5e'.repeat(20)}`

const stores = useStores()
const { stage, lying, clientOf, send, prunedNode } = useBalanceStage(stores)

/** A node that shows the accounts as they were before anything was paid, while it lies. */
async function oldNode() {
  const node = { isOld: false, url: '' }
  node.url = await lying((call, truth) => {
    if (!node.isOld) return truth
    if (call.method === 'eth_getLogs') return { result: [] }
    if (!readsFunds(call) || typeof truth.result !== 'string') return truth
    const [place, figures] = [truth.result.slice(0, 2 + WORD), truth.result.slice(2 + WORD)]
    return { result: place + '0'.repeat(figures.length) }
  })
  return node
}

async function waitFor(
  asset: AssetId,
  number: number,
  { at, endsAt }: { readonly at: number; readonly endsAt: number },
) {
  const claim = `test:ethereum:${WATCHED.matchKey}:${asset}:${number}`
  const method = { ...samplePaymentMethod(WATCHED.matchKey, at, { asset, claim }), address: WATCHED.address }
  const state = { paymentMethods: [method], expiresAt: endsAt, nextActionAt: endsAt }
  await createInvoiceRepository(stores.db).insert(sampleInvoice(stores.runtime.random, { at, number, state }))
}

/** Lets a scanner read up to the head, and ends it. */
async function readOnce(url: string, aheadMs: number): Promise<void> {
  const scanner = scan(url, aheadMs)
  await stage.untilHeight(await stage.height())
  await scanner.stop()
}

/** Its store's clock is ahead of the chain by so much. */
function scan(url: string, aheadMs: number) {
  const clock = { ...stage.deps.clock, now: () => Date.now() + aheadMs }
  return stage.scan(stage.source({ client: clientOf([url]), thrifty: briskPace({ allLookMs: HOUR_MS }) }), { clock })
}

/** Brings the first invoice's deadline near, and resolves when it has passed. */
async function untilEnded(url: string, aheadMs: number): Promise<void> {
  const endsAt = Date.now() + aheadMs + 1_000
  const change = { $set: { expiresAt: new Date(endsAt), nextActionAt: new Date(endsAt) } }
  await stores.db.connection.collection('invoices').updateOne({ number: 1 }, change)
  scan(url, aheadMs)
  await vi.waitFor(async () => {
    if (Date.now() + aheadMs > endsAt) await stage.chain.mine()
    const cursor = await stage.cursor()
    expect(cursor === null ? 0 : deadlinesPassUntil(cursor, 12_000)).toBeGreaterThanOrEqual(endsAt)
  }, PATIENCE)
}

// Guarantee: an invoice that shares its address does not end because a later one began after the unseen payment.
it('what an address had before the first of its invoices counts, however many follow', async () => {
  const node = await oldNode()
  await waitFor('usdt_ethereum', 1, { at: Date.now() - 1_000, endsAt: Date.now() + HOUR_MS })
  await readOnce(node.url, 0)
  node.isOld = true
  await stage.chain.pay({ asset: 'usdt_ethereum', to: WATCHED.address, amountBase: 5_000_000n })
  await stage.chain.mine(2)
  await readOnce(node.url, 0)
  node.isOld = false
  await waitFor('usdt_ethereum', 2, { at: Date.now(), endsAt: Date.now() + 2 * HOUR_MS })
  await stage.chain.mine()
  await readOnce(node.url, 0)
  await untilEnded(node.url, 0)
  expect(await stage.payments()).toMatchObject([{ amount: '5000000' }])
})

// Guarantee: a clock that differs from the chain's hides no payment.
it('a difference from what an address had is looked for since then, whatever the clocks say', async () => {
  const aheadMs = 60_000
  const node = await oldNode()
  await waitFor('eth_ethereum', 1, { at: Date.now() + aheadMs - 1_000, endsAt: Date.now() + HOUR_MS })
  await readOnce(node.url, aheadMs)
  node.isOld = true
  await stage.chain.pay({ asset: 'eth_ethereum', to: WATCHED.address, amountBase: 10n ** 18n })
  await stage.chain.mine(2)
  await readOnce(node.url, aheadMs)
  node.isOld = false
  await untilEnded(node.url, aheadMs)
  expect(await stage.payments()).toMatchObject([{ amount: String(10n ** 18n) }])
})

// Guarantee: a change from reading by balances to reading every block loses nothing that came and went before it, whatever state nodes still have.
it('coins that a key sent on are read when every block is read from then on', async () => {
  let aheadMs = 0
  const clock = { ...stage.deps.clock, now: () => Date.now() + aheadMs }
  const thrifty = briskPace({ openMs: HOUR_MS / 4, allLookMs: HOUR_MS })
  await waitFor('eth_ethereum', 1, { at: Date.now() - 1_000, endsAt: Date.now() + HOUR_MS })
  await stage.chain.mine()
  const attentive = stage.scan(stage.source({ client: clientOf(), thrifty }), { clock })
  const starts = { starts: { $exists: true } }
  await vi.waitFor(
    async () => expect(await stores.db.connection.collection('coin_balances').countDocuments(starts)).toBe(1),
    PATIENCE,
  )
  await send(10n ** 18n, WATCHED.address)
  await stage.chain.mine()
  const gasPrice = BigInt((await stage.chain.rpc('eth_gasPrice')) as string)
  const [value, price] = [10n ** 18n - 21_000n * gasPrice, gasPrice].map((amount) => `0x${amount.toString(16)}`)
  const transaction = { from: WATCHED.address, to: STRANGER, value, gas: '0x5208', gasPrice: price }
  await stage.chain.rpc('eth_sendTransaction', [transaction])
  // So far behind them that no halving of the range meets them.
  await stage.chain.mine(30)
  await stage.chain.pay({ asset: 'usdt_ethereum', to: WATCHED.address, amountBase: 5_000_000n })
  await stage.chain.mine()
  aheadMs = HOUR_MS / 4
  await stage.untilHeight(await stage.height())
  await attentive.stop()
  expect(await stage.payments()).toMatchObject([{ amount: '5000000' }])
  stage.scan(stage.source({ client: clientOf([await prunedNode()]), looks: USUAL_LOOKS }))
  await stage.untilPayments([{ amount: '5000000' }, { amount: String(10n ** 18n) }])
})

// Guards the quota of hosted nodes: what has not been read yet is not what nobody could read.
it('a new invoice lets no thrifty network prove the deadlines of all', async () => {
  const client = clientOf()
  const { accounts } = client
  if (accounts === undefined) throw new Error('no account reader')
  const everywhere = vi.fn(accounts.everywhere)
  const counted = { ...client, accounts: { ...accounts, everywhere } }
  await waitFor('eth_ethereum', 1, { at: Date.now() - 1_000, endsAt: Date.now() + HOUR_MS })
  stage.scan(stage.source({ client: counted, thrifty: briskPace({ allLookMs: HOUR_MS }) }))
  await stage.untilHeight(await stage.height())
  await send(10n ** 18n, WATCHED.address)
  await stage.chain.mine()
  await stage.untilPayments([{ amount: String(10n ** 18n) }])
  expect(everywhere).not.toHaveBeenCalled()
})
