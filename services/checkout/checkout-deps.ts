import type { Config } from '#shared/config/schema.ts'
import type { Catalog } from '#shared/ports/chain-catalog.ts'
import type { CursorRepository } from '#shared/ports/cursors.ts'
import type { InvoiceVersions } from '#shared/ports/live-invoices.ts'
import type { Logos } from '#shared/ports/logos.ts'
import type { PaymentHints } from '#shared/ports/payment-hints.ts'
import type { QueueNotifier } from '#shared/ports/runtime.ts'
import type { TokenBuckets } from '#shared/queues/token-bucket.ts'
import type { AnswerPaidHashDeps } from '#shared/usecases/diagnostics/answer-paid-hash.ts'
import type { ChooseAssetDeps } from '#shared/usecases/invoices/choose-asset.ts'
import type { NotePaymentHintDeps } from '#shared/usecases/invoices/note-payment-hint.ts'
import type { ViewInvoiceDeps } from '#shared/usecases/invoices/view-invoice.ts'
import type { PayLinkDeps } from '#shared/usecases/payment-links/pay-link.ts'
import type { ViewPaymentLinkDeps } from '#shared/usecases/payment-links/view-payment-link.ts'
import type { ListAssetOptionsDeps } from '#shared/usecases/quotes/list-asset-options.ts'
import type { RateReader } from '#shared/usecases/rates/read-rate.ts'
import type { RefundRequestDeps } from '#shared/usecases/refunds/submit-refund-address.ts'
import type { NodeClients } from './node-clients.ts'

/** Dependencies of the checkout; `assembleCheckout` wires them and tests may replace single ones. */
export interface CheckoutDeps
  extends ViewInvoiceDeps,
    ListAssetOptionsDeps,
    ViewPaymentLinkDeps,
    ChooseAssetDeps,
    PayLinkDeps,
    NotePaymentHintDeps,
    RefundRequestDeps,
    AnswerPaidHashDeps {
  readonly config: Pick<Config, 'pagesDir' | 'trustedProxies'>
  readonly versions: InvoiceVersions
  readonly buckets: TokenBuckets
  readonly nodes: NodeClients
  readonly notifier: QueueNotifier
  readonly invoices: ViewInvoiceDeps['invoices'] &
    ChooseAssetDeps['invoices'] &
    PayLinkDeps['invoices'] &
    AnswerPaidHashDeps['invoices']
  readonly payments: ViewInvoiceDeps['payments'] & ChooseAssetDeps['payments'] & AnswerPaidHashDeps['payments']
  readonly refunds: RefundRequestDeps['refunds'] & ChooseAssetDeps['refunds']
  readonly hints: PaymentHints
  readonly logos: Pick<Logos, 'findByHash'>
  readonly cursors: Pick<CursorRepository, 'find' | 'list'>
  readonly wallets: ChooseAssetDeps['wallets'] & AnswerPaidHashDeps['wallets']
  readonly workspaces: ViewInvoiceDeps['workspaces']
  readonly paymentLinks: PayLinkDeps['paymentLinks']
  readonly catalog: Catalog
  readonly rates: RateReader
}
