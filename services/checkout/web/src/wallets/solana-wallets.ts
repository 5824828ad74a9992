import type { PaymentMethodView } from '#shared/contracts/checkout/invoice-view.ts'
import { base58 } from './base58.ts'
import {
  codeOf,
  type PayerWallet,
  sendProblem,
  WalletProblem,
  walletIcon,
  walletList,
  walletName,
} from './payer-wallet.ts'

/** An account of a wallet; nothing of it is trusted. */
interface Account {
  readonly address?: unknown
  readonly chains?: unknown
}

/** A wallet of the Wallet Standard, as far as it is used here. */
interface StandardWallet {
  readonly name?: unknown
  readonly icon?: unknown
  readonly chains?: unknown
  readonly features?: {
    readonly 'standard:connect'?: { connect?(): Promise<{ readonly accounts?: unknown }> }
    readonly 'solana:signAndSendTransaction'?: { signAndSendTransaction?(input: object): Promise<unknown> }
  }
}

const ACCOUNT = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/
const SIGNATURE_BYTES = 64

/** Shows every wallet of the Wallet Standard that has the chain and can sign and send. Returns how to stop. */
export function findSolanaWallets(chain: string, show: (wallets: readonly PayerWallet[]) => void): () => void {
  const list = walletList(show)
  const ids = new Map<unknown, string>()
  const register = (...wallets: readonly unknown[]) => {
    for (const wallet of wallets) {
      if (!canPay(wallet, chain)) continue
      const id = ids.get(wallet) ?? `solana-${ids.size}`
      ids.set(wallet, id)
      list.add({ id, name: walletName(wallet.name), icon: walletIcon(wallet.icon), pay: payWith(wallet, chain) })
    }
    return () => {
      for (const wallet of wallets) list.remove(ids.get(wallet) ?? '')
    }
  }
  const api = Object.freeze({ register })
  const hear = (event: Event): void => {
    const announce: unknown = (event as CustomEvent<unknown>).detail
    if (typeof announce === 'function') announce(api)
  }
  window.addEventListener('wallet-standard:register-wallet', hear)
  window.dispatchEvent(new CustomEvent('wallet-standard:app-ready', { detail: api }))
  return () => window.removeEventListener('wallet-standard:register-wallet', hear)
}

function canPay(wallet: unknown, chain: string): wallet is StandardWallet {
  const { chains, features } = (wallet ?? {}) as StandardWallet
  return (
    Array.isArray(chains) &&
    chains.includes(chain) &&
    typeof features?.['standard:connect']?.connect === 'function' &&
    typeof features['solana:signAndSendTransaction']?.signAndSendTransaction === 'function'
  )
}

const payWith =
  (wallet: StandardWallet, chain: string): PayerWallet['pay'] =>
  async (_lock: PaymentMethodView, sent, { prepare }) => {
    const account = await accountOf(wallet, chain)
    const transaction = await prepare(String(account.address))
    if (transaction === null) throw new WalletProblem('wallet.unprepared')
    const bytes = Uint8Array.from(atob(transaction), (sign) => sign.charCodeAt(0))
    const outputs = await wallet.features?.['solana:signAndSendTransaction']
      ?.signAndSendTransaction?.({ account, chain, transaction: bytes })
      .catch((error: unknown) => {
        throw sendProblem(error)
      })
    const [first] = (Array.isArray(outputs) ? outputs : []) as readonly { readonly signature?: unknown }[]
    const signature = first?.signature
    if (!(signature instanceof Uint8Array) || signature.length !== SIGNATURE_BYTES)
      throw new WalletProblem('wallet.unclear')
    sent(base58(signature))
  }

async function accountOf(wallet: StandardWallet, chain: string): Promise<Account> {
  const answer = await wallet.features?.['standard:connect']?.connect?.().catch((error: unknown) => {
    throw new WalletProblem(codeOf(error) === 4001 ? 'wallet.refused' : 'wallet.noAccount', { cause: error })
  })
  const accounts = (Array.isArray(answer?.accounts) ? answer.accounts : []) as readonly (Account | null)[]
  const usable = accounts.filter((account) => typeof account?.address === 'string' && ACCOUNT.test(account.address))
  const [first] = usable.filter((account) => Array.isArray(account?.chains) && account.chains.includes(chain))
  if (first == null) throw new WalletProblem(usable.length > 0 ? 'wallet.noNetwork' : 'wallet.noAccount')
  return first
}
