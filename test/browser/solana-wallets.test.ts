import { Keypair, Transaction } from '@solana/web3.js'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type SurfpoolNode, startSurfpoolNode } from '#dev/local-chain/surfpool-node.ts'
import { ASSETS } from '#shared/chains/definitions/assets.ts'
import { associatedAccount, transferTransaction } from '#shared/chains/families/solana/transfer-message.ts'
import { axeViolations, settled } from '#test/support/accessibility.ts'
import { useBrowser } from '#test/support/browser.ts'
import { invoiceViews, SHOWN_ID } from '#test/support/checkout-views.ts'
import { sampleOf } from '#test/support/depth.ts'
import { sharedInstallation } from '#test/support/shared-installation.ts'

// Wallets of the Wallet Standard in the payer's browser; what the server prepares is tested in services/checkout/wallet-payments.int.test.ts.
const browser = useBrowser()
const dev = sharedInstallation()
const MINT = ASSETS.usdc_solana.contract ?? ''
const AMOUNT = 148_520_000n
let node: SurfpoolNode
beforeAll(async () => {
  node = await startSurfpoolNode()
})
afterAll(() => node?.stop())

interface Stage {
  readonly page: Page
  readonly payer: Keypair
  /** Bodies of what the page posted, by the end of its path. */
  readonly posted: Record<string, unknown[]>
}

async function latestHash(): Promise<string> {
  const answer = await node.rpc('getLatestBlockhash', [{ commitment: 'confirmed' }])
  return (answer as { readonly value: { readonly blockhash: string } }).value.blockhash
}

/**
 * A page of a Solana invoice and the wallets of a script. What `/wallet` answers: a transaction that the local chain takes (`real`), one that no
 * chain takes, or none.
 */
async function open(
  script: string,
  prepared: 'real' | 'for nowhere' | 'none' = 'for nowhere',
): Promise<Stage & { readonly to: string }> {
  const page = await browser.open()
  const payer = Keypair.generate()
  const account = payer.publicKey.toBase58()
  if (prepared === 'real') {
    await node.rpc('surfnet_setAccount', [account, { lamports: 10_000_000_000 }])
    await node.rpc('surfnet_setTokenAccount', [account, MINT, { amount: 1_000_000_000 }])
  }
  const to = Keypair.generate().publicKey.toBase58()
  const view = invoiceViews(Date.now())['pay-solana']
  const paymentMethod = view?.paymentMethod == null ? null : { ...view.paymentMethod, address: to }
  const posted: Record<string, unknown[]> = {}
  await page.route('**/api/**', async (route) => {
    const request = route.request()
    const [end = ''] = request.url().split('/').slice(-1)
    if (request.method() === 'POST') posted[end] = [...(posted[end] ?? []), request.postDataJSON()]
    if (end === 'live') return await route.fulfill({ status: 429, body: '' })
    if (end !== 'wallet') return await route.fulfill({ json: { now: Date.now(), view: { ...view, paymentMethod } } })
    if (prepared === 'none') return await route.fulfill({ json: { transaction: null } })
    const blockhash = prepared === 'real' ? await latestHash() : Keypair.generate().publicKey.toBase58()
    const mint = { address: MINT, decimals: 6 }
    const reference = Keypair.generate().publicKey.toBase58()
    const question = { from: request.postDataJSON().account, to, mint, amountBase: AMOUNT, reference }
    const bytes = transferTransaction({ ...question, blockhash })
    await route.fulfill({ json: { transaction: Buffer.from(bytes).toString('base64') } })
  })
  await page.exposeFunction('signAndSend', async (base64: string) => {
    const transaction = Transaction.from(Buffer.from(base64, 'base64'))
    transaction.sign(payer)
    await node.rpc('sendTransaction', [transaction.serialize().toString('base64'), { encoding: 'base64' }])
    return [...(transaction.signature ?? [])]
  })
  await page.addInitScript(`window.account = ${JSON.stringify(account)}; ${script}`)
  await page.goto(`${dev.checkoutUrl}/i/${SHOWN_ID}`)
  await settled(page)
  return { page, payer, posted, to }
}

/** A wallet as extensions register it, with what a test replaces; `late` = it comes after the page. */
const wallet = (change = '', late = false) => `{
  const chains = ['solana:mainnet', 'solana:devnet']
  const account = { address: window.account, publicKey: new Uint8Array(32), chains, features: [] }
  window.calls = []
  const wallet = {
    version: '1.0.0', name: 'Phantasm', icon: 'data:image/svg+xml;base64,PHN2Zy8+', chains, accounts: [],
    features: {
      'standard:connect': { version: '1.0.0', connect: async () => { window.calls.push('connect'); return { accounts: [account] } } },
      'solana:signAndSendTransaction': { version: '1.0.0', signAndSendTransaction: async (input) => {
        window.calls.push(['send', input.chain, input.account === account])
        const bytes = await window.signAndSend(btoa(String.fromCharCode(...input.transaction)))
        return [{ signature: Uint8Array.from(bytes) }]
      } },
    },
  }
  ${change}
  const callback = ({ register }) => register(wallet)
  const announce = () => {
    window.dispatchEvent(new CustomEvent('wallet-standard:register-wallet', { detail: callback }))
    window.addEventListener('wallet-standard:app-ready', ({ detail }) => callback(detail))
  }
  ${late ? 'setTimeout(announce, 1500)' : 'announce()'}
}`
const alert = (page: Page) => page.locator('.wallet [role=alert]')
const button = (page: Page) => page.getByRole('button', { name: 'Pay with Phantasm' })
const balance = async (owner: string): Promise<string> => {
  const answer = (await node
    .rpc('getTokenAccountBalance', [associatedAccount(owner, MINT), { commitment: 'processed' }])
    .catch(() => null)) as { value: { amount: string } } | null
  return answer?.value.amount ?? '0'
}

describe('a Solana wallet in the payer’s browser', () => {
  // Guarantee: one click moves exactly what the invoice asks for on the chain, and its id is announced at once.
  test.each(sampleOf([false, true], 1))('pays with its own signature; registered after the page: %s', async (late) => {
    const { page, payer, posted, to } = await open(wallet('', late), 'real')
    await button(page).waitFor()
    expect(await page.evaluate('window.calls')).toEqual([])
    if (!late) expect(await axeViolations(page, 'all')).toEqual([])
    await button(page).click()
    await page.getByText('Seen by your wallet, waiting for the network.').waitFor()
    await alert(page).filter({ hasText: 'Sent. It appears here as soon as the network sees it.' }).waitFor()
    expect(await page.evaluate('window.calls')).toEqual(['connect', ['send', 'solana:mainnet', true]])
    expect(posted['wallet']).toEqual([{ account: payer.publicKey.toBase58() }])
    // Sent again until the server shows it, always the same.
    expect(new Set(posted['hint']?.map((body) => JSON.stringify(body))).size).toBe(1)
    expect(posted['hint']?.[0]).toEqual({ txHash: expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{80,88}$/) })
    await expect.poll(() => balance(to)).toBe(String(AMOUNT))
    // A second click sends nothing: the page waits for the network.
    await button(page).click({ force: true })
    expect(posted['wallet']).toHaveLength(1)
  })

  test.each(
    sampleOf(
      [
        ['has another chain only', `wallet.chains = ['solana:testnet']`],
        ['cannot send', `delete wallet.features['solana:signAndSendTransaction']`],
        ['cannot connect', `wallet.features['standard:connect'] = {}`],
      ],
      1,
    ),
  )('is not offered when it %s', async (_what, change) => {
    const { page } = await open(wallet(change))
    await page.getByText('Paying from an exchange?').waitFor()
    await page.waitForLoadState('networkidle')
    expect(await page.locator('.wallet button').count()).toBe(0)
  })

  const send = (body: string) =>
    `wallet.features['solana:signAndSendTransaction'].signAndSendTransaction = async () => { ${body} }`
  const connect = (body: string) => `wallet.features['standard:connect'].connect = async () => { ${body} }`
  // Guards money: what is not clearly refused may have been sent, and what is no signature is never announced.
  test.each([
    ['refuses to connect', connect('throw { code: 4001 }'), 'The wallet did not send anything.', 0],
    ['shares no account', connect('return { accounts: [] }'), 'The wallet shared no account', 0],
    [
      'shares nonsense',
      connect('return { accounts: [null, { address: "<b>" }, 5] }'),
      'The wallet shared no account',
      0,
    ],
    ['is on another chain', `account.chains = ['solana:devnet']`, 'The wallet does not have Solana', 0],
    ['refuses to sign', send('throw { code: 4001 }'), 'The wallet did not send anything.', 1],
    ['fails unclearly', send('throw new Error("oops")'), 'The wallet did not say whether it sent the payment.', 1],
    ['returns nonsense', send('return [{ signature: "sent" }]'), 'The wallet did not say whether', 1],
    ['returns too little', send('return [{ signature: new Uint8Array(3) }]'), 'The wallet did not say whether', 1],
  ])('that %s is answered with what to do', async (_what, change, words, input) => {
    const { page, posted } = await open(wallet(change))
    await button(page).click()
    await alert(page).filter({ hasText: words }).waitFor()
    expect(posted['wallet'] ?? []).toHaveLength(input)
    expect(posted['hint']).toBeUndefined()
  })

  test('says that nothing was sent when the checkout cannot prepare the payment', async () => {
    const { page } = await open(wallet(), 'none')
    await button(page).click()
    await alert(page).filter({ hasText: 'We could not prepare the payment, so nothing was sent.' }).waitFor()
    expect(await page.evaluate('window.calls')).toEqual(['connect'])
  })
})
