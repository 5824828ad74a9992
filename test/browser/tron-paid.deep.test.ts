import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { payLocally } from '#dev/local-chain/pay-locally.ts'
import { type Stack, startStack } from '#scripts/start/stack.ts'
import { ASSETS } from '#shared/chains/definitions/assets.ts'
import { parseAccount } from '#shared/chains/families/tron/address.ts'
import { useBrowser } from '#test/support/browser.ts'
import { sampleOf } from '#test/support/depth.ts'
import { injectTronWallet, type TronWallet } from '#test/support/tron-wallet.ts'
import { openWorld, type World } from '#test/support/world.ts'

// What a wallet of TRON signs makes an invoice of a whole installation paid; everything else about them is in tron-wallets.test.ts.
const START_MS = 300_000
const PAID_MS = 60_000
const RICH_BASE = 100_000_000_000n
const ALPHA = { uuid: '350670db-19fa-4704-a166-e52e178b59d2', name: 'Alpha Wallet' }

const browser = useBrowser()
let dataDir: string
let stack: Stack
let world: World
let chain: string
beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'paymesh-tronlink-'))
  stack = await startStack({ dataDir, networks: ['tron'] })
  world = await openWorld(dataDir, stack.dev)
  chain = `0x${String((await rpc('wallet/getblockbynum', { num: 0 }))['blockID']).slice(-8)}`
}, START_MS)
afterAll(async () => {
  await world?.close()
  await stack?.stop()
  rmSync(dataDir, { recursive: true, force: true })
})

async function rpc(path: string, body: object): Promise<Readonly<Record<string, unknown>>> {
  const url = `${stack.dev.rpcUrls['tron']}/${path}`
  return (await (await fetch(url, { method: 'POST', body: JSON.stringify(body) })).json()) as Record<string, unknown>
}

/** Gives the wallet's account coins and tokens. */
async function enrich({ payer }: TronWallet): Promise<void> {
  const rpcUrl = stack.dev.rpcUrls['tron'] ?? ''
  for (const asset of ['trx_tron', 'usdt_tron'] as const) {
    const { contract } = ASSETS[asset]
    await payLocally({ rpcUrl, asset, contract, to: payer.account, amountBase: RICH_BASE })
  }
  const address = `41${payer.matchKey}`
  const coins = async () => (await rpc('wallet/getaccount', { address }))['balance']
  await expect.poll(coins, { timeout: PAID_MS }).toBe(Number(RICH_BASE))
  // A transfer of tokens that are not there yet is taken by the node, and fails in its block.
  const question = {
    ...{ owner_address: address, contract_address: `41${parseAccount(ASSETS.usdt_tron.contract ?? '')}` },
    ...{ function_selector: 'balanceOf(address)', parameter: payer.matchKey.padStart(64, '0') },
  }
  const tokens = async () => {
    const { constant_result: [word = '0'] = [] } = (await rpc('wallet/triggerconstantcontract', question)) as {
      constant_result?: readonly string[]
    }
    return BigInt(`0x${word}`)
  }
  await expect.poll(tokens, { timeout: PAID_MS }).toBe(RICH_BASE)
}

// Guarantee: one click moves exactly what the invoice asks for on the chain, and the network's word makes it paid.
test.each(sampleOf(['trx_tron', 'usdt_tron'] as const, 1))(
  'pays with its own signature: %s',
  { timeout: PAID_MS * 3 },
  async (asset) => {
    const created = await world.createInvoice({ asset })
    const page = await browser.open()
    const wallet = await injectTronWallet(page, ALPHA, { chain })
    await enrich(wallet)
    await page.goto(created.urls.checkout)
    const button = page.getByRole('button', { name: 'Pay with Alpha Wallet' })
    await button.waitFor()
    await button.click()
    await page
      .getByText('Seen by your wallet, waiting for the network.')
      .or(page.getByRole('heading', { name: 'Paid. Thank you.' }))
      .waitFor({ timeout: PAID_MS })
    await page.getByRole('heading', { name: 'Paid. Thank you.' }).waitFor({ timeout: PAID_MS })
    expect(wallet.calls).toEqual(['eth_requestAccounts', 'eth_chainId', 'sign'])
    const paid = await world.getInvoice(created.id)
    expect(paid.status).toBe('paid')
    expect(paid.received.confirmed_base_units).toBe(created.crypto?.amount_base_units)
  },
)
