import { expect, it, vi } from 'vitest'
import { createChainClient } from '#shared/chains/create-chain-client.ts'
import { createInvoiceRepository } from '#shared/db/invoices/invoice-repository.ts'
import type { ThriftyPace } from '#shared/usecases/scanning/thrifty-pace.ts'
import { useBalanceStage } from '#test/support/balance-stage.ts'
import { sampleInvoice, samplePaymentMethod } from '#test/support/db-samples.ts'
import { signedTransfer, WATCHED } from '#test/support/scan-stage.ts'
import { useStores } from '#test/support/stores.ts'
import { briskPace } from '#test/support/thrifty-pace.ts'

const PATIENCE = { timeout: 10_000, interval: 20 }
const HOUR_MS = 3_600_000
/** dRPC's free plan, for some seconds at a time (enviodev/hyperindex#715, 2025-08). */
const DRPC = {
  status: 408,
  error: { code: 30, message: 'Request timeout on the free tier, please upgrade your tier to the paid one' },
}
/** The same moment in words that no list has. */
const UNKNOWN = {
  status: 200,
  error: { code: -32_055, message: 'This query shape is reserved for customers of plan Z' },
}

const stores = useStores()
const balances = useBalanceStage(stores)
const { stage } = balances

async function waitForTokens(status: 'pending' | 'expired', endsAt: number) {
  const at = Date.now() - HOUR_MS
  const method = samplePaymentMethod(WATCHED.matchKey, at, { asset: 'usdt_ethereum' })
  const nextActionAt = status === 'pending' ? endsAt : null
  const state = { paymentMethods: [{ ...method, address: WATCHED.address }], status, expiresAt: endsAt, nextActionAt }
  await createInvoiceRepository(stores.db).insert(sampleInvoice(stores.runtime.random, { at, number: 1, state }))
}

function thrifty(rpcUrl: string, change: Partial<ThriftyPace> = {}) {
  const node = { rpcUrls: [rpcUrl], chainId: 31_337 }
  const client = createChainClient({ live: {}, test: { ethereum: node } }, 'test', 'ethereum', stores.runtime.metrics)
  if (client === null) throw new Error('no client')
  return stage.scan(stage.source({ client, finalityDepth: 3, thrifty: briskPace(change) }))
}

/** A node that refuses calls of contracts while the switch is on, and counts how often. */
async function refusingCalls(answer: typeof DRPC) {
  const state = { isOn: false, refused: 0 }
  const url = await balances.lying(({ method }, truth) => {
    if (!state.isOn || method !== 'eth_call') return truth
    state.refused += 1
    return answer
  })
  return { state, url }
}

const untilThrifty = () => vi.waitFor(async () => expect((await stage.cursor())?.source).toBe('thrifty'), PATIENCE)
async function payTokens(amountBase: bigint) {
  await stage.chain.rpc('eth_sendRawTransaction', [await signedTransfer(stage.chain, amountBase)])
  await stage.chain.mine()
  return stage.height()
}

// Guarantee: a balance that was not read is not unchanged: no look passes a range while the question is refused.
it.each([
  ['as by dRPC', DRPC],
  ['in unknown words', UNKNOWN],
])(
  'a late payment is found although the looks are refused for a while, %s',
  async (_, answer) => {
    await stage.chain.mine(5)
    await waitForTokens('expired', Date.now() - HOUR_MS / 2)
    const { state, url } = await refusingCalls(answer)
    const often = { endedLookMs: 100, allLookMs: 200, blockTimeMs: 1, marginMs: 0 }
    const scanner = thrifty(url, often)
    await vi.waitFor(async () => expect((await stage.cursor())?.looks?.all.height).toBeGreaterThanOrEqual(0), PATIENCE)
    state.isOn = true
    const paidAt = await payTokens(7_000_000n)
    await stage.chain.mine(70)
    await vi.waitFor(() => expect(state.refused).toBeGreaterThan(0), PATIENCE)
    // A look that failed begins again a minute later, or with the next scanner.
    await scanner.stop()
    const looks = (await stage.cursor())?.looks
    expect(Math.max(looks?.ended.height ?? 0, looks?.all.height ?? 0)).toBeLessThan(paidAt)
    state.isOn = false
    thrifty(url, often)
    await vi.waitFor(async () => expect(await stage.payments()).toMatchObject([{ amount: '7000000' }]), PATIENCE)
  },
  60_000,
)

// Guarantee: what holds an open invoice up is written down in the provider's own words, and nothing is concluded from them.
it.each([
  ['as by dRPC', DRPC],
  ['in unknown words', UNKNOWN],
])(
  'a payment to an open invoice is found as soon as the refusal ends, %s, which is named meanwhile',
  async (_, answer) => {
    await stage.chain.mine(5)
    await waitForTokens('pending', Date.now() + HOUR_MS)
    const { state, url } = await refusingCalls(answer)
    thrifty(url)
    await untilThrifty()
    state.isOn = true
    await payTokens(3_000_000n)
    await vi.waitFor(async () => {
      expect((await stage.cursor())?.trouble).toMatchObject({
        method: 'eth_call',
        reason: expect.stringContaining(answer.error.message.slice(0, 20)),
      })
    }, PATIENCE)
    expect(await stage.payments()).toEqual([])
    state.isOn = false
    await vi.waitFor(async () => expect(await stage.payments()).toMatchObject([{ amount: '3000000' }]), PATIENCE)
  },
  60_000,
)
