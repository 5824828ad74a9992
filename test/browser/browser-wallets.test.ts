import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { ASSETS } from '#shared/chains/definitions/assets.ts'
import { axeViolations, settled } from '#test/support/accessibility.ts'
import { useBrowser } from '#test/support/browser.ts'
import { invoiceViews, SHOWN_ID } from '#test/support/checkout-views.ts'
import { injectSigningWallet } from '#test/support/signing-wallet.ts'
import { useWorld } from '#test/support/use-world.ts'

const world = useWorld()
const browser = useBrowser()
const PAID_MS = 60_000
const LOCAL_CHAIN = 31_337
const PNG =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const ALPHA = { uuid: '350670db-19fa-4704-a166-e52e178b59d2', name: 'Alpha Wallet', icon: PNG }
const BETA = { uuid: '7d1c9f0a-2b57-4d0c-9a0e-3f0f5ad1c111', name: 'Beta', icon: 'https://beta.example/icon.png' }

const onChain = () => {
  const rpcUrl = world().dev.rpcUrls['ethereum']
  const token = ASSETS.usdt_ethereum.contract
  if (rpcUrl === undefined || token === null) throw new Error('no local Ethereum')
  return { rpcUrl, token }
}
const alert = (page: Page) => page.locator('.wallet [role=alert]')
const sends = (calls: readonly { readonly method: string }[]) =>
  calls.filter(({ method }) => method === 'eth_sendTransaction').length

/** A real invoice whose page has two wallets. */
async function openWithWallets() {
  const created = await world().createInvoice()
  const page = await browser.open()
  const alpha = await injectSigningWallet(page, ALPHA, onChain())
  const beta = await injectSigningWallet(page, BETA, onChain())
  await page.goto(created.urls.checkout)
  await page.getByRole('button', { name: 'Pay with Beta' }).waitFor()
  return { created, page, alpha, beta }
}

describe('wallets in the payer’s browser', () => {
  // Guarantee: the wallet that the payer chose pays, at once, what the page says; the network's word makes it paid.
  test('are offered by name, and the chosen one pays with its own signature', async () => {
    const { page, alpha, beta, created } = await openWithWallets()
    const alphaButton = page.getByRole('button', { name: 'Pay with Alpha Wallet' })
    expect(await alphaButton.locator('img').getAttribute('src')).toBe(PNG)
    // A picture of another server would tell it who pays; the page shows its own sign.
    expect(await page.getByRole('button', { name: 'Pay with Beta' }).locator('img').count()).toBe(0)
    expect(alpha.calls).toEqual([])
    expect(await axeViolations(page, 'all')).toEqual([])

    await alphaButton.click()
    await alert(page).filter({ hasText: 'The wallet does not have Ethereum, so nothing was sent.' }).waitFor()
    expect(sends(alpha.calls)).toBe(0)
    alpha.chains.push(LOCAL_CHAIN)
    await alphaButton.click()
    await page
      .getByText('Seen by your wallet, waiting for the network.')
      .or(page.getByRole('heading', { name: 'Paid. Thank you.' }))
      .waitFor()
    await page.getByRole('heading', { name: 'Paid. Thank you.' }).waitFor({ timeout: PAID_MS })
    expect(sends(alpha.calls)).toBe(1)
    expect(beta.calls).toEqual([])
    expect((await world().getInvoice(created.id)).status).toBe('paid')
  })

  test('that refuse cost nothing, and what was typed is kept', async () => {
    const { page, beta, created } = await openWithWallets()
    beta.chains.push(LOCAL_CHAIN)
    await page.getByText('I paid but nothing happened').click()
    await page.getByLabel('Transaction ID').fill('half an id')
    beta.refuse = (method) => (method === 'eth_sendTransaction' ? 4001 : null)
    const button = page.getByRole('button', { name: 'Pay with Beta' })
    await button.click()
    await alert(page).filter({ hasText: 'The wallet did not send anything.' }).waitFor()
    // Not a refusal: the wallet may have sent it.
    beta.refuse = (method) => (method === 'eth_sendTransaction' ? -32_603 : null)
    await button.click()
    await alert(page).filter({ hasText: 'The wallet did not say whether it sent the payment.' }).waitFor()
    beta.refuse = (method) => (method === 'eth_requestAccounts' ? 4100 : null)
    await button.click()
    await alert(page).filter({ hasText: 'The wallet shared no account' }).waitFor()
    expect(await page.getByLabel('Transaction ID').inputValue()).toBe('half an id')
    expect((await world().getInvoice(created.id)).status).toBe('pending')
  })

  // Guards money: whoever has the link can announce what they like; nobody is told that it was paid.
  test('and strangers can announce what was never sent, which pays nothing', async () => {
    const created = await world().createInvoice()
    const lie = `0x${'ab'.repeat(32)}`
    const said = await fetch(`${world().dev.checkoutUrl}/api/i/${created.id}/hint`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ txHash: lie }),
    })
    expect(said.status).toBe(200)
    const page = await browser.open()
    await page.goto(created.urls.checkout)
    await page.getByText('A wallet announced transaction 0xabab…ababab for this invoice.').waitFor()
    await page.getByText('Waiting for your payment').first().waitFor()
    await world().pay(await world().getInvoice(created.id))
    await page.getByRole('heading', { name: 'Paid. Thank you.' }).waitFor({ timeout: PAID_MS })
    expect(await page.locator('main').textContent()).not.toContain('0xabab')
  })
})

/** The page of a public network with our own answer: the installation has no node there. */
async function showPublic(script: string): Promise<Page> {
  const page = await browser.open()
  await page.addInitScript(script)
  const view = invoiceViews(Date.now())['pay-evm']
  await page.route('**/api/**', async (route) => {
    if (route.request().url().endsWith('/live')) await route.fulfill({ status: 429, body: '' })
    else await route.fulfill({ json: { now: Date.now(), view } })
  })
  await page.goto(`${world().dev.checkoutUrl}/i/${SHOWN_ID}`)
  await settled(page)
  return page
}

/** A wallet whose answers a test writes as the body of a function of the call. */
const walletThat = (answer: string) => `
  window.calls = []
  const provider = { request: async (call) => { window.calls.push(call); ${answer} } }
  const info = { uuid: '350670db-19fa-4704-a166-e52e178b59d2', name: 'Gamma\\u202e<b>', icon: 'data:text/html,<b>' }
  const announce = () => window.dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail: { info, provider } }))
  window.addEventListener('eip6963:requestProvider', announce)
  // What announces nonsense is left out.
  for (const detail of [null, 1, {}, { info }, { provider }, { info: { uuid: 5 }, provider }])
    window.addEventListener('eip6963:requestProvider', () =>
      window.dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail })))`
const ACCOUNT = `if (call.method === 'eth_requestAccounts') return ['0x00000000000000000000000000000000000000aa']`
const GAMMA = 'Pay with Gamma␦<b>'

describe('a network that the wallet lacks', () => {
  test('is added with public addresses of its definition', async () => {
    const page = await showPublic(
      walletThat(`${ACCOUNT}
      if (call.method === 'eth_chainId') return window.chain ?? '0x1'
      if (call.method === 'wallet_switchEthereumChain' && !window.known) throw { code: -32603, data: { originalError: { code: 4902 } } }
      if (call.method === 'wallet_switchEthereumChain') window.chain = call.params[0].chainId
      if (call.method === 'wallet_addEthereumChain') { window.known = true; return null }
      return '0x' + '1'.repeat(64)`),
    )
    await page.getByRole('button', { name: GAMMA }).click()
    await alert(page).filter({ hasText: 'Sent. It appears here as soon as the network sees it.' }).waitFor()
    const added = await page.evaluate(`window.calls.filter(({ method }) => method === 'wallet_addEthereumChain')`)
    expect(added).toEqual([
      {
        method: 'wallet_addEthereumChain',
        params: [
          {
            chainId: '0x2105',
            chainName: 'Base',
            nativeCurrency: { name: 'ETH', symbol: 'ETH', decimals: 18 },
            rpcUrls: ['https://mainnet.base.org'],
            blockExplorerUrls: ['https://basescan.org'],
          },
        ],
      },
    ])
  })
})

// Guards money: a wallet that lies sends nothing through this page that the page did not ask for, or says nothing that it believes.
test.each([
  ['its account', `if (call.method === 'eth_requestAccounts') return [{}]; return '0x2105'`, 'shared no account', 0],
  [
    'its chain',
    `${ACCOUNT}; if (call.method === 'eth_chainId') return '0x1'; return null`,
    'did not switch to Base',
    0,
  ],
  [
    'what it sent',
    `${ACCOUNT}; if (call.method === 'eth_chainId') return '0x2105'; return 'sent!'`,
    'did not say whether',
    1,
  ],
] as const)('a wallet that lies about %s is answered with what to do', async (_what, answer, words, count) => {
  const page = await showPublic(walletThat(answer))
  await page.getByRole('button', { name: GAMMA }).click()
  await alert(page).filter({ hasText: words }).waitFor()
  const sent = await page.evaluate<number>(
    `window.calls.filter(({ method }) => method === 'eth_sendTransaction').length`,
  )
  expect(sent).toBe(count)
})
