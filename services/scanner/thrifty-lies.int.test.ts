import { expect, it, vi } from 'vitest'
import { createChainClient } from '#shared/chains/create-chain-client.ts'
import { createInvoiceRepository } from '#shared/db/invoices/invoice-repository.ts'
import { deadlinesPassUntil } from '#shared/usecases/networks/known-until.ts'
import type { ThriftyPace } from '#shared/usecases/scanning/thrifty-pace.ts'
import { useBalanceStage } from '#test/support/balance-stage.ts'
import { sampleInvoice, samplePaymentMethod } from '#test/support/db-samples.ts'
import { deepTest } from '#test/support/depth.ts'
import { signedTransfer, WATCHED } from '#test/support/scan-stage.ts'
import { useStores } from '#test/support/stores.ts'
import { briskPace } from '#test/support/thrifty-pace.ts'

const PATIENCE = { timeout: 8_000, interval: 20 }
const HOUR_MS = 3_600_000
/** Anvil calls blocks final that are 64 below its head. */
const FINALITY_DEPTH = 65

const stores = useStores()
const balances = useBalanceStage(stores)
const { stage } = balances

async function waitForTokens(endsAt = Date.now() + HOUR_MS) {
  const at = Date.now() - 1_000
  const paymentMethod = {
    ...samplePaymentMethod(WATCHED.matchKey, at, { asset: 'usdt_ethereum' }),
    address: WATCHED.address,
  }
  const state = { paymentMethods: [paymentMethod], status: 'pending' as const, expiresAt: endsAt, nextActionAt: endsAt }
  await createInvoiceRepository(stores.db).insert(sampleInvoice(stores.runtime.random, { at, number: 1, state }))
}

function thrifty(rpcUrls: readonly string[], change: Partial<ThriftyPace> = {}) {
  const node = { rpcUrls, chainId: 31_337 }
  const client = createChainClient({ live: {}, test: { ethereum: node } }, 'test', 'ethereum', stores.runtime.metrics)
  if (client === null) throw new Error('no client')
  return stage.scan(stage.source({ client, finalityDepth: FINALITY_DEPTH, thrifty: briskPace(change) }))
}

async function untilThrifty() {
  await vi.waitFor(async () => expect((await stage.cursor())?.source).toBe('thrifty'), PATIENCE)
  await stage.untilHeight(await stage.height())
}

const send = async (raw: string) => {
  await stage.chain.rpc('eth_sendRawTransaction', [raw])
  await stage.chain.mine()
}

// Guarantee: the block of the head becomes the cursor without a second question; one that the node does not have never does.
deepTest('a head that no block backs becomes no cursor, passes no deadline and hides no payment', async () => {
  const endsAt = Date.now() + HOUR_MS
  await waitForTokens(endsAt)
  let isLying = false
  let lies = 0
  const liar = await balances.lying(({ method, params }, truth) => {
    if (!isLying || method !== 'eth_getBlockByNumber' || params[0] !== 'latest') return truth
    lies += 1
    const block = truth.result as { hash: string; timestamp: string }
    const timestamp = `0x${(Number(block.timestamp) + 7_200).toString(16)}`
    return { result: { ...block, timestamp, hash: `0xbad${block.hash.slice(5)}` } }
  })
  thrifty([liar])
  await untilThrifty()
  isLying = true
  await send(await signedTransfer(stage.chain, 5_000_000n))
  await vi.waitFor(() => expect(lies).toBeGreaterThan(5), PATIENCE)
  const cursor = await stage.cursor()
  const block = await stage.chain.rpc('eth_getBlockByNumber', [`0x${cursor?.height.toString(16)}`, false])
  expect(cursor?.hash).toBe((block as { hash: string }).hash)
  expect(cursor === null ? 0 : deadlinesPassUntil(cursor, 12_000)).toBeLessThan(endsAt)
  isLying = false
  await vi.waitFor(async () => expect(await stage.payments()).toMatchObject([{ amount: '5000000' }]), PATIENCE)
})

// Guarantee: what is not remembered below final blocks depends on two nodes: one that calls everything final stops nothing.
deepTest('a node that calls its head final does not keep a permitted reorganisation from being followed', async () => {
  await waitForTokens()
  const hasty = await balances.lying(({ method, params }, truth) => {
    if (method !== 'eth_getBlockByNumber' || params[0] !== 'finalized') return truth
    return { result: null }
  })
  const eager = await balances.lying((call, truth) => {
    if (call.method !== 'eth_getBlockByNumber' || call.params[0] !== 'finalized') return truth
    // Any block far above the head's finality; its hash is not looked at.
    const block = truth.result as { number: string }
    return { result: { ...block, number: `0x${(Number(block.number) + 60).toString(16)}` } }
  })
  await stage.chain.mine(100)
  const scanner = thrifty([eager, hasty])
  await untilThrifty()
  await stage.chain.mine(40)
  await send(await signedTransfer(stage.chain, 1_000_000n))
  await vi.waitFor(async () => expect(await stage.payments()).toMatchObject([{ amount: '1000000' }]), PATIENCE)
  await stage.chain.mine(10)
  await stage.chain.reorg(30, [])
  await send(await signedTransfer(stage.chain, 3_000_000n))
  await vi.waitFor(async () => {
    expect((await stage.cursor())?.haltReason ?? null).toBeNull()
    const states = new Map((await stage.payments()).map(({ amount, state }) => [amount, state]))
    expect(states.get('1000000')).toBe('orphaned')
    expect(states.get('3000000')).toBe('detected')
  }, PATIENCE)
  await scanner.stop()
})

// Guarantee: confirmations are asked for slowly because balances show it when a payment disappears.
it('a payment that disappears while it waits for confirmations is taken back at the next look at balances', async () => {
  await waitForTokens()
  thrifty([stage.chain.url], { confirmMs: HOUR_MS, blockTimeMs: HOUR_MS })
  await untilThrifty()
  await send(await signedTransfer(stage.chain, 4_000_000n))
  await vi.waitFor(async () => expect(await stage.payments()).toMatchObject([{ state: 'detected' }]), PATIENCE)
  await stage.chain.reorg(1, [])
  await stage.chain.mine()
  await vi.waitFor(async () => expect(await stage.payments()).toMatchObject([{ state: 'orphaned' }]), PATIENCE)
})
