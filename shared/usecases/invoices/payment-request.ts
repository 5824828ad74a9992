import { activePaymentMethod, type InvoiceState, type Ms } from '#shared/domain/invoice/model.ts'
import { requestedBase } from '#shared/domain/invoice/requested-amount.ts'
import type { Catalog } from '#shared/ports/chain-catalog.ts'

/** What a payer is asked to send now, and the text from which a wallet prepares it. */
interface PaymentRequest {
  /** Base units of the invoice's asset; zero when nothing is due or only a new price can name an amount. */
  readonly amountBase: bigint
  /** A payment link for exactly this amount, the plain address where wallets agree on no link, and empty where nothing is asked for. */
  readonly uri: string
}

/** The one request of an invoice in this state: the REST API, webhooks, the checkout and the dashboard all show it. Pure. */
export function paymentRequest(catalog: Pick<Catalog, 'paymentUri'>, state: InvoiceState, at: Ms): PaymentRequest {
  const paymentMethod = activePaymentMethod(state)
  const amountBase = requestedBase(state, at)
  if (paymentMethod === null || amountBase === 0n) return { amountBase: 0n, uri: '' }
  const { asset, address, reference } = paymentMethod
  const named = reference === undefined ? {} : { reference }
  return { amountBase, uri: catalog.paymentUri({ asset, mode: state.mode, address, amountBase, ...named }) }
}
