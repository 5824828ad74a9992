import type { CancelDeps } from '#shared/usecases/cancel-invoice.ts'
import type { CreateOnceDeps } from '#shared/usecases/create-invoice-once.ts'
import type { KeyRing } from '#shared/usecases/key-ring.ts'
import type { KeyUse } from '#shared/usecases/key-use.ts'
import type { ListCursor } from '#shared/usecases/list-cursor.ts'
import type { LockAvailability } from '#shared/usecases/lock-availability.ts'
import type { ManageEndpointsDeps } from '#shared/usecases/manage-endpoints.ts'
import type { ManagePaymentLinksDeps } from '#shared/usecases/manage-payment-links.ts'
import type { ManageProductsDeps } from '#shared/usecases/manage-products.ts'
import type { Catalog } from '#shared/usecases/ports/catalog.ts'
import type { ProductRepository } from '#shared/usecases/ports/catalogue.ts'
import type { InvoiceRepository } from '#shared/usecases/ports/invoices.ts'
import type { PaymentRepository } from '#shared/usecases/ports/payments.ts'
import type { RateLimiter } from '#shared/usecases/ports/rate-limit.ts'
import type { IdempotencyRepository } from '#shared/usecases/ports/tenancy.ts'
import type { RateReader } from '#shared/usecases/read-rate.ts'
import type { RecordedEndpointsDeps } from '#shared/usecases/recorded-endpoints.ts'
import type { RunOnceDeps } from '#shared/usecases/run-once.ts'
import type { SimulateDeps } from '#shared/usecases/simulate-payment.ts'

/** Everything the REST edge works with; `main.ts` wires the real parts and tests may replace single ones. */
export interface ApiDeps
  extends CreateOnceDeps,
    CancelDeps,
    SimulateDeps,
    ManageEndpointsDeps,
    RecordedEndpointsDeps,
    ManagePaymentLinksDeps,
    ManageProductsDeps,
    RunOnceDeps {
  readonly invoices: InvoiceRepository
  readonly payments: PaymentRepository
  readonly products: ProductRepository
  readonly idempotency: IdempotencyRepository
  readonly keyRing: KeyRing
  readonly keyUse: KeyUse
  readonly limiter: RateLimiter
  readonly catalog: Catalog
  readonly rates: RateReader
  readonly availability: LockAvailability
  readonly listCursor: ListCursor
  /** Compare every answer with its schema before it leaves; for development and tests. */
  readonly checkAnswers: boolean
  /** Proxies in front whose entries in `X-Forwarded-For` are believed; 0 = none. */
  readonly trustedProxies: number
  /** Where merchants reach the interface, without path and slash at its end. */
  readonly publicUrl: string
  /** Folder of the built pages, `reference` among them; null when they were not built. */
  readonly pagesDir: string | null
}
