import type { Config } from '#shared/config/schema.ts'
import type { TokenBuckets } from '#shared/queues/token-bucket.ts'
import type { AnswerPaidHashDeps } from '#shared/usecases/diagnostics/answer-paid-hash.ts'
import type { ChooseAssetDeps } from '#shared/usecases/invoices/choose-asset.ts'
import type { NotePaymentHintDeps } from '#shared/usecases/invoices/note-payment-hint.ts'
import type { ViewInvoiceDeps } from '#shared/usecases/invoices/view-invoice.ts'
import type { PayLinkDeps } from '#shared/usecases/payment-links/pay-link.ts'
import type { ViewPaymentLinkDeps } from '#shared/usecases/payment-links/view-payment-link.ts'
import type { ListAssetOptionsDeps } from '#shared/usecases/quotes/availability.ts'
import type { RefundRequestDeps } from '#shared/usecases/refunds/submit-refund-address.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import type { NodeClients } from './node-clients.ts'

/** Dependencies of the checkout; `assembleCheckout` wires them and tests may replace single ones. */
export type CheckoutDeps = ViewInvoiceDeps &
  ListAssetOptionsDeps &
  ViewPaymentLinkDeps &
  ChooseAssetDeps &
  PayLinkDeps &
  NotePaymentHintDeps &
  RefundRequestDeps &
  AnswerPaidHashDeps &
  Uses<
    | 'versions'
    | 'notifier'
    | 'invoices'
    | 'payments'
    | 'refunds'
    | 'hints'
    | 'logos'
    | 'cursors'
    | 'wallets'
    | 'workspaces'
    | 'paymentLinks'
    | 'catalog'
    | 'rates'
  > & {
    readonly config: Pick<Config, 'pagesDir' | 'trustedProxies'>
    readonly buckets: TokenBuckets
    readonly nodes: NodeClients
  }
