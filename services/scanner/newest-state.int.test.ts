import { expect, it, vi } from 'vitest'
import { createChainClient } from '#shared/chains/create-chain-client.ts'
import { createInvoiceRepository } from '#shared/db/invoices/invoice-repository.ts'
import { ETHER, useBalanceStage } from '#test/support/balance-stage.ts'
import { sampleInvoice, samplePaymentMethod } from '#test/support/db-samples.ts'
import type { Lie } from '#test/support/lying-node.ts'
import { WATCHED } from '#test/support/scan-stage.ts'
import { useStores } from '#test/support/stores.ts'
import { briskPace } from '#test/support/thrifty-pace.ts'

const PATIENCE = { timeout: 20_000, interval: 20 }
const HOUR_MS = 3_600_000
const STATE_METHODS = new Set(['eth_call', 'eth_getBalance', 'eth_getCode', 'eth_getTransactionCount'])
/** The contract of EIP-2935, which anvil does not fill. */
const HISTORY = '0x0000f90827f1c53a10cb7a02335b175320002935'

const stores = useStores()
const balances = useBalanceStage(stores)
const { stage } = balances

/** Answers every question about state from its newest one, under the header of the block that was named (lambdaclass/ethrex#7071). */
const newestState: Lie = async ({ method, params }, truth) => {
  if (method === 'eth_getStorageAt' && params[0] === HISTORY) {
    const block = (await stage.chain.rpc('eth_getBlockByNumber', [params[1], false])) as { hash: string } | null
    return { result: Number(params[1]) < (await stage.height()) ? block?.hash : `0x${'0'.repeat(64)}` }
  }
  if (!STATE_METHODS.has(method)) return truth
  const newest = (await stage.chain.rpc(method, [params[0], 'latest'])) as string
  const isTogether = method === 'eth_call' && typeof truth.result === 'string' && truth.result.length > 66
  return { result: isTogether ? String(truth.result).slice(0, 66) + newest.slice(66) : newest }
}

async function waitForCoins(endsAt: number) {
  const at = Date.now() - 1_000
  const coin = { asset: 'eth_ethereum', symbol: 'ETH', decimals: 18 } as const
  const paymentMethod = { ...samplePaymentMethod(WATCHED.matchKey, at, coin), address: WATCHED.address }
  const state = { paymentMethods: [paymentMethod], status: 'pending' as const, expiresAt: endsAt, nextActionAt: endsAt }
  await createInvoiceRepository(stores.db).insert(sampleInvoice(stores.runtime.random, { at, number: 1, state }))
}

async function scan() {
  const rpcUrls = [await balances.lying(newestState)]
  const networks = { live: {}, test: { ethereum: { rpcUrls, chainId: 31_337 } } }
  const client = createChainClient(networks, 'test', 'ethereum', stores.runtime.metrics)
  if (client === null) throw new Error('no client')
  return stage.scan(stage.source({ client, finalityDepth: 65, thrifty: briskPace({}) }))
}

const pay = (amountBase: bigint) => stage.chain.pay({ asset: 'eth_ethereum', to: WATCHED.address, amountBase })

it('a node that has no state but its newest one, and does not say so, hides no coins', async () => {
  await stage.chain.mine(5)
  await waitForCoins(Date.now() + HOUR_MS)
  await scan()
  await vi.waitFor(async () => expect((await stage.cursor())?.source).toBe('thrifty'), PATIENCE)
  await stage.untilHeight(await stage.height())
  await stage.chain.mine(3)
  await pay(ETHER)
  await stage.chain.mine(3)
  await vi.waitFor(async () => expect(await stage.payments()).toMatchObject([{ amount: String(ETHER) }]), PATIENCE)
})

it('and hides none that came while nobody looked', async () => {
  await stage.chain.mine(5)
  await waitForCoins(Date.now() + HOUR_MS)
  const scanner = await scan()
  await vi.waitFor(async () => expect((await stage.cursor())?.source).toBe('thrifty'), PATIENCE)
  await stage.untilHeight(await stage.height())
  await scanner.stop()
  await pay(ETHER)
  await stage.chain.mine(3)
  await scan()
  await vi.waitFor(async () => expect(await stage.payments()).toMatchObject([{ amount: String(ETHER) }]), PATIENCE)
})
