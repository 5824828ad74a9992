import { announcedWallets, type Provider } from './announced-wallets.ts'
import { type Checkout, codeOf, type PayerWallet, WalletProblem } from './payer-wallet.ts'
import { type PreparedTransfer, readPrepared, signatureOf } from './tron-transfer.ts'

/** A wallet of TRON. */
interface TronProvider extends Provider {
  /** False or absent until the page may see an account. */
  readonly tronWeb?: Partial<TronWeb> | false
}

/** The library of a wallet, as far as it is used here: its own node stays unused, because the page's policy forbids it. */
interface TronWeb {
  readonly defaultAddress?: { readonly base58?: unknown }
  readonly trx: { sign(transaction: object): Promise<unknown> }
}

/** The wallet has never heard of the chain (TIP-3326). */
const UNKNOWN_CHAIN = 4902
const ACCOUNT = /^T[1-9A-HJ-NP-Za-km-z]{33}$/
/** How long a wallet may take to show its library after the account, milliseconds, and how often that is looked at. */
const READY_MS = 2_000
const LOOK_MS = 50

/** Shows the wallets that announce themselves (TIP-6963), and the injected one where none does. Returns how to stop. */
export function findTronWallets(show: (wallets: readonly PayerWallet[]) => void): () => void {
  const { tron, tronLink } = globalThis as { readonly tron?: TronProvider; readonly tronLink?: TronProvider }
  return announcedWallets('TIP6963', tron ?? tronLink, payWith, show)
}

const payWith =
  (provider: TronProvider): PayerWallet['pay'] =>
  async (_paymentMethod, sent, checkout) => {
    const account = await accountOf(provider)
    const text = await checkout.prepare(account)
    const prepared = text === null ? null : readPrepared(text)
    if (text === null || prepared === null) throw new WalletProblem('wallet.unprepared')
    await goTo(provider, prepared.chainId)
    const signature = await sign(provider, prepared)
    await submit(checkout, { account, prepared: text, signature }, () => sent(prepared.transaction.txID))
  }

/** Also where a wallet throws instead of rejecting. */
const call = async (provider: TronProvider, method: string, params?: readonly unknown[]): Promise<unknown> =>
  await provider.request(params === undefined ? { method } : { method, params })

async function accountOf(provider: TronProvider): Promise<string> {
  const run = (method: string) =>
    call(provider, method).catch((error: unknown) => {
      if (codeOf(error) === 4001) throw new WalletProblem('wallet.refused', { cause: error })
      return null
    })
  const answer = await run('eth_requestAccounts')
  // Wallets from before TIP-1102 know another method, and return a code instead of accounts.
  const accounts = Array.isArray(answer) ? (answer as readonly unknown[]) : null
  if (accounts === null && codeOf(await run('tron_requestAccounts')) === 4001) throw new WalletProblem('wallet.refused')
  const first = accounts === null ? (await libraryOf(provider))?.defaultAddress?.base58 : accounts[0]
  if (typeof first !== 'string' || !ACCOUNT.test(first)) throw new WalletProblem('wallet.noAccount')
  return first
}

/** The wallet's library, which some show only a moment after the account. */
async function libraryOf(provider: TronProvider): Promise<TronWeb | null> {
  for (let waited = 0; waited < READY_MS; waited += LOOK_MS) {
    const { tronWeb } = provider
    if (typeof tronWeb === 'object' && typeof tronWeb.trx?.sign === 'function') return tronWeb as TronWeb
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
  return null
}

/**
 * Has the wallet use the invoice's chain. A signature does not name its chain: a wallet on a test network would show worthless coins and sign
 * real ones. Wallets that cannot state their chain say so by switching to it.
 */
async function goTo(provider: TronProvider, chainId: string): Promise<void> {
  const current = async () => {
    const said = await call(provider, 'eth_chainId').catch(() => null)
    return typeof said === 'string' ? said.toLowerCase() : null
  }
  const before = await current()
  if (before === chainId) return
  await call(provider, 'wallet_switchEthereumChain', [{ chainId }]).catch((error: unknown) => {
    const isUnknown = codeOf(error) === UNKNOWN_CHAIN
    throw new WalletProblem(isUnknown ? 'wallet.noNetwork' : 'wallet.wrongNetwork', { cause: error })
  })
  if (before !== null && (await current()) !== chainId) throw new WalletProblem('wallet.wrongNetwork')
}

/** The signature, of exactly what was prepared. Signing sends nothing, so every failure means that nothing was sent. */
async function sign(provider: TronProvider, { transaction }: PreparedTransfer): Promise<string> {
  const library = await libraryOf(provider)
  if (library === null) throw new WalletProblem('wallet.noAccount')
  let signed: unknown
  try {
    // A copy: what the wallet does to it changes nothing here.
    signed = await library.trx.sign(structuredClone(transaction))
  } catch (error) {
    throw new WalletProblem('wallet.refused', { cause: error })
  }
  const signature = signatureOf(transaction, signed)
  if (signature === null) throw new WalletProblem('wallet.changed')
  return signature
}

async function submit(
  checkout: Checkout,
  signed: Parameters<Checkout['submit']>[0],
  tellSent: () => void,
): Promise<void> {
  const outcome = await checkout.submit(signed)
  if (outcome === 'refused') throw new WalletProblem('wallet.notTaken')
  if (outcome === 'different') throw new WalletProblem('wallet.changed')
  if (outcome === 'unsent') throw new WalletProblem('wallet.unprepared')
  tellSent()
  if (outcome !== 'sent') throw new WalletProblem('wallet.unclear')
}
