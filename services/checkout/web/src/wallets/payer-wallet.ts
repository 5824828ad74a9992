import type { PaymentMethodView } from '#shared/contracts/checkout/invoice-view.ts'
import { plain } from '../format/plain.ts'
import type { MessageKey } from '../locales/en.ts'

/** What became of a signed transaction (`SendOutcome`); null when the checkout did not say. */
type SubmitOutcome = 'sent' | 'different' | 'refused' | 'unsent' | 'unclear' | null

/** What the checkout does for wallets that do not build, or do not send, what they sign. */
export interface Checkout {
  /** The unsigned transaction of an account, in the form of the network; null when it cannot be built. */
  prepare(account: string): Promise<string | null>
  /** Hands what was prepared to the network with its signature (hex). */
  submit(signed: {
    readonly account: string
    readonly prepared: string
    readonly signature: string
  }): Promise<SubmitOutcome>
}

/** A wallet in the payer's browser that can pay the invoice's network. */
export interface PayerWallet {
  /** Differs from that of every other wallet on the page. */
  readonly id: string
  /** Null for a wallet that does not say what it is called. */
  readonly name: string | null
  /** A `data:` URL of a picture; null without one. */
  readonly icon: string | null
  /**
   * Has the wallet send exactly the remaining amount. `sent` is called with the transaction's id as soon as there is one. Rejects with
   * `WalletProblem`; a rejection after `sent` leaves open whether the network will get it.
   */
  pay(paymentMethod: PaymentMethodView, sent: (txHash: string) => void, checkout: Checkout): Promise<void>
}

/** Why a wallet did not pay, as the sentence that says what to do. */
export class WalletProblem extends Error {
  readonly key: MessageKey

  constructor(key: MessageKey, options: ErrorOptions = {}) {
    super(key, options)
    this.key = key
  }
}

/** What a page of a wallet's choice may show at most. */
const NAME_MAX = 32
const ICON_MAX = 64 * 1_024
/** More than a person has; a hostile script cannot fill the page. */
const WALLETS_MAX = 12
const ICON = /^data:image\/(?:png|jpeg|gif|webp|svg\+xml)[;,]/i

/** A wallet's own name as plain text; null where it has none. */
export function walletName(name: unknown): string | null {
  if (typeof name !== 'string' || name.trim() === '') return null
  return plain(name.trim()).slice(0, NAME_MAX)
}

/** A wallet's own picture, never from another server: it is shown by `<img>`, where no script of an SVG runs. Null for anything else. */
export function walletIcon(icon: unknown): string | null {
  return typeof icon === 'string' && icon.length <= ICON_MAX && ICON.test(icon.trim()) ? icon.trim() : null
}

/** Wallets in the order of their first announcement; one that announces itself again is replaced. */
export function walletList(show: (wallets: readonly PayerWallet[]) => void): {
  add(wallet: PayerWallet): void
  remove(id: string): void
} {
  const known = new Map<string, PayerWallet>()
  const tell = () => show([...known.values()])
  return {
    add(wallet) {
      if (known.size >= WALLETS_MAX && !known.has(wallet.id)) return
      known.set(wallet.id, wallet)
      tell()
    },
    remove(id) {
      if (known.delete(id)) tell()
    },
  }
}

/** The code of a wallet's error (EIP-1193), also where another error wraps it; null without one. */
export function codeOf(error: unknown): number | null {
  if (typeof error !== 'object' || error === null) return null
  const { code, data } = error as { readonly code?: unknown; readonly data?: { readonly originalError?: unknown } }
  const inner = data?.originalError === undefined ? null : codeOf(data.originalError)
  return inner ?? (typeof code === 'number' ? code : null)
}

/** Rejected by the person, not authorised, unknown method, not connected, wrong chain, wrong parameters: nothing was sent. */
const NOT_SENT: ReadonlySet<number | null> = new Set([4001, 4100, 4200, 4900, 4901, -32_601, -32_602])

/** The problem of a failed request to send. What is not clearly a refusal may have been sent. */
export function sendProblem(error: unknown): WalletProblem {
  if (error instanceof WalletProblem) return error
  return new WalletProblem(NOT_SENT.has(codeOf(error)) ? 'wallet.refused' : 'wallet.unclear', { cause: error })
}
