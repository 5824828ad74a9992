import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { ASSETS } from '#shared/chains/definitions/assets.ts'
import { type UnsignedTransfer, unsignedTransfer } from '#shared/chains/families/tron/transfer-message.ts'
import { axeViolations, settled } from '#test/support/accessibility.ts'
import { useBrowser } from '#test/support/browser.ts'
import { invoiceViews, SHOWN_ID } from '#test/support/checkout-views.ts'
import { deepTest } from '#test/support/depth.ts'
import { sharedInstallation } from '#test/support/shared-installation.ts'
import { ADDRESS, OURS, useTronNodes, watches } from '#test/support/tron-nodes.ts'
import { tronPayer } from '#test/support/tron-payer.ts'
import { injectTronWallet, type TronWallet } from '#test/support/tron-wallet.ts'

// Wallets of TRON (TIP-6963, TIP-1193) sign; the checkout builds and hands on (docs/decisions/0080). Here its answers come from the client
// of a local node; services/checkout/signed-payments.int.test.ts has its routes, test/browser/tron-paid.deep.test.ts a whole installation.
const browser = useBrowser()
const dev = sharedInstallation()
const { at, client } = useTronNodes()
const AMOUNT = 148_590_000n
const RICH_BASE = 100_000_000_000n
const ALPHA = { uuid: '350670db-19fa-4704-a166-e52e178b59d2', name: 'Alpha Wallet' }
const BETA = { uuid: '7d1c9f0a-2b57-4d0c-9a0e-3f0f5ad1c111', name: 'Beta' }
const NILE = '0xcd8690dc'
const chainOf = () => `0x${at.node.genesis.slice(-8)}`

/** Gives the wallet's account coins and tokens. */
async function enrich({ payer }: TronWallet): Promise<void> {
  for (const asset of ['trx_tron', 'usdt_tron'] as const)
    await at.node.pay({ asset, to: payer.account, amountBase: RICH_BASE })
  at.node.mine()
}

/** The page of an invoice with the wallets; each is on the invoice's chain. `sent`: the ends of the paths that the page posted to. */
async function open(asset: 'trx_tron' | 'usdt_tron', infos: readonly (typeof ALPHA)[], lateMs = 0) {
  const page = await browser.open()
  const wallets: TronWallet[] = []
  for (const info of infos) wallets.push(await injectTronWallet(page, info, { chain: chainOf(), lateMs }))
  const { contract } = ASSETS[asset]
  const view = invoiceViews(Date.now())['pay']
  const paymentMethod =
    view?.paymentMethod == null
      ? null
      : {
          ...view.paymentMethod,
          asset,
          address: ADDRESS,
          remainingBase: String(AMOUNT),
          browser: { chain: 'tron:local', contract },
        }
  const reader = client([at.node.url])
  const transfer = (from: string) => ({ from, to: ADDRESS, contract, amountBase: AMOUNT, reference: null })
  const sent: string[] = []
  const hints: unknown[] = []
  await page.route('**/api/**', async (route) => {
    const request = route.request()
    const [end = ''] = request.url().split('/').slice(-1)
    if (request.method() === 'POST') sent.push(end)
    const body = request.postDataJSON() as Readonly<Record<string, string>> | null
    const { account = '', prepared = '', signature = '' } = body ?? {}
    if (end === 'hint') hints.push(body)
    if (end === 'live') return await route.fulfill({ status: 429, body: '' })
    if (end === 'wallet')
      return await route.fulfill({ json: { transaction: await reader.prepareTransfer?.(transfer(account)) } })
    if (end === 'signed') {
      const outcome = await reader.sendTransfer?.(transfer(account), { prepared, signature })
      return await route.fulfill({ json: { outcome } })
    }
    await route.fulfill({ json: { now: Date.now(), view: { ...view, paymentMethod } } })
  })
  await page.goto(`${dev.checkoutUrl}/i/${SHOWN_ID}`)
  await settled(page)
  const [wallet] = wallets
  if (wallet === undefined) throw new Error('no wallet')
  await button(page, infos[0]?.name ?? '').waitFor()
  return { page, wallet, wallets, sent, hints, reader }
}

const button = (page: Page, name: string) => page.getByRole('button', { name: `Pay with ${name}` })
const alert = (page: Page) => page.locator('.wallet [role=alert]')
const says = (page: Page, words: string) => alert(page).filter({ hasText: words }).waitFor()
const REFUSED = 'The wallet did not send anything.'

describe('a TRON wallet in the payer’s browser', () => {
  // Guards money: one click moves exactly what the invoice asks for on the chain, the scanner finds it, and its id is announced at once.
  test.each(['trx_tron', 'usdt_tron'] as const)('pays with its own signature: %s', async (asset) => {
    const { page, wallet, sent, hints, reader } = await open(asset, [ALPHA])
    await enrich(wallet)
    expect(wallet.calls).toEqual([])
    expect(await axeViolations(page, 'all')).toEqual([])
    await button(page, 'Alpha Wallet').click()
    await page.getByText('Seen by your wallet, waiting for the network.').waitFor()
    await says(page, 'Sent. It appears here as soon as the network sees it.')
    expect(wallet.calls).toEqual(['eth_requestAccounts', 'eth_chainId', 'sign'])
    expect(sent.slice(0, 3)).toEqual(['wallet', 'signed', 'hint'])
    at.node.mine()
    const height = at.node.height()
    const [block] = await reader.scan(height, height, watches)
    expect(block?.transfers).toMatchObject([{ asset, matchKey: OURS, amountBase: AMOUNT }])
    expect(hints[0]).toEqual({ txHash: block?.transfers[0]?.txHash })
    // A second click signs nothing: the page waits for the network.
    await button(page, 'Alpha Wallet').click({ force: true })
    expect(wallet.calls).toHaveLength(3)
  })

  deepTest('is offered beside others, also when it comes late, and only the chosen one is asked', async () => {
    const { page, wallets, sent } = await open('usdt_tron', [ALPHA, BETA], 1_500)
    const [alpha, beta] = wallets
    await button(page, 'Beta').waitFor()
    if (beta !== undefined) beta.refuse = (method) => (method === 'sign' ? { message: 'declined' } : null)
    await button(page, 'Beta').click()
    await says(page, REFUSED)
    expect(alpha?.calls).toEqual([])
    expect(sent).toEqual(['wallet'])
  })

  deepTest('that refuses, is locked, or has too little costs nothing, and what was typed is kept', async () => {
    const { page, wallet, sent } = await open('trx_tron', [ALPHA])
    await page.getByText('I paid but nothing happened').click()
    await page.getByLabel('Transaction ID').fill('half an id')
    wallet.refuse = () => ({ code: 4001, message: 'User rejected request' })
    await button(page, 'Alpha Wallet').click()
    await says(page, REFUSED)
    wallet.refuse = () => ({ code: 4100, message: 'Unauthorized' })
    await button(page, 'Alpha Wallet').click()
    await says(page, 'The wallet shared no account, so nothing was sent. Unlock it')
    expect(sent).toEqual([])
    // TronLink rejects a signature without a code; signing alone sends nothing.
    wallet.refuse = (method) => (method === 'sign' ? { message: 'Confirmation declined by user' } : null)
    await button(page, 'Alpha Wallet').click()
    await says(page, REFUSED)
    wallet.refuse = null
    await button(page, 'Alpha Wallet').click()
    await says(page, 'The network refused the payment, so nothing was sent.')
    expect(await page.getByLabel('Transaction ID').inputValue()).toBe('half an id')
    expect(sent).not.toContain('hint')
  })

  // Guards money: a signature does not name its chain, so a wallet that shows test coins could sign real ones.
  test('on another network is not asked to sign until it has switched', async () => {
    const { page, wallet, sent } = await open('usdt_tron', [ALPHA])
    wallet.chain = NILE
    await button(page, 'Alpha Wallet').click()
    await says(page, 'The wallet does not have TRON, so nothing was sent.')
    wallet.refuse = (method) => (method === 'wallet_switchEthereumChain' ? { code: 4001, message: 'no' } : null)
    await button(page, 'Alpha Wallet').click()
    await says(page, 'The wallet did not switch to TRON, so nothing was sent.')
    // It says that it switched, and did not.
    wallet.refuse = null
    wallet.chains.push(chainOf())
    Object.defineProperty(wallet, 'chain', { get: () => NILE, set: () => undefined, configurable: true })
    await button(page, 'Alpha Wallet').click()
    await expect.poll(() => wallet.calls.filter((method) => method === 'wallet_switchEthereumChain').length).toBe(3)
    await says(page, 'The wallet did not switch to TRON, so nothing was sent.')
    expect(wallet.calls).not.toContain('sign')
    expect(sent).not.toContain('signed')
    Object.defineProperty(wallet, 'chain', { value: NILE, writable: true, configurable: true })
    await button(page, 'Alpha Wallet').click()
    // It switched this time, signed, and has no tokens: the transfer is taken and fails in its block.
    await says(page, 'Sent. It appears here as soon as the network sees it.')
    expect(wallet.calls.at(-1)).toBe('sign')
  })

  const thief = tronPayer()
  const stolen = (wallet: TronWallet, input: UnsignedTransfer) => {
    const { contract: _contract, ...reference } = input.raw_data
    const to = thief.matchKey
    const other = unsignedTransfer({ from: wallet.payer.matchKey, to, contract: null, amountBase: 7n, reference })
    return { ...other, signature: [wallet.payer.sign(other)] }
  }
  // Guards money: what a hostile wallet signs instead is sent by nobody, and nothing claims that it was.
  test.each([
    ['another recipient', (wallet: TronWallet, input: UnsignedTransfer) => stolen(wallet, input), false],
    [
      'another recipient under the bytes of ours',
      (wallet: TronWallet, input: UnsignedTransfer) => ({ ...input, signature: stolen(wallet, input).signature }),
      true,
    ],
    ['nothing', () => ({}), false],
    ['a yes', () => true, false],
  ])('that signs %s has nothing sent', async (_what, betray, reachesServer) => {
    const { page, wallet, sent } = await open('trx_tron', [ALPHA])
    await enrich(wallet)
    wallet.betray = (input) => betray(wallet, input)
    await button(page, 'Alpha Wallet').click()
    await says(page, 'The wallet signed something other than this payment, so we sent nothing.')
    expect(sent.includes('signed')).toBe(reachesServer)
    expect(sent).not.toContain('hint')
    at.node.mine()
    const query = { method: 'POST', body: JSON.stringify({ address: `41${thief.matchKey}` }) }
    expect(await (await fetch(`${at.node.url}/wallet/getaccount`, query)).json()).toEqual({})
  })
})
