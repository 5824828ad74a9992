import type { RateLimiter } from '#shared/ports/rate-limit.ts'
import type { ManageEndpointsDeps } from '#shared/usecases/endpoints/manage-endpoints.ts'
import type { RecordedEndpointsDeps } from '#shared/usecases/endpoints/recorded-endpoints.ts'
import type { CancelDeps } from '#shared/usecases/invoices/cancel-invoice.ts'
import type { CreateOnceDeps } from '#shared/usecases/invoices/create-invoice.ts'
import type { SimulateDeps } from '#shared/usecases/invoices/simulate-payment.ts'
import type { ManagePaymentLinksDeps } from '#shared/usecases/payment-links/manage-payment-links.ts'
import type { ManageProductsDeps } from '#shared/usecases/payment-links/manage-products.ts'
import type { QuoteAvailability } from '#shared/usecases/quotes/availability.ts'
import type { ListCursor } from '#shared/usecases/requests/list-cursor.ts'
import type { RunOnceDeps } from '#shared/usecases/requests/run-once.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import type { AnnouncedEndpointsDeps } from '#shared/usecases/workspaces/announced-changes.ts'
import type { KeyRing, KeyUse } from '#shared/usecases/workspaces/api-key-cache.ts'

/** Dependencies of the REST API; `assembleApi` wires them and tests may replace single ones. */
export type ApiDeps = CreateOnceDeps &
  CancelDeps &
  SimulateDeps &
  ManageEndpointsDeps &
  RecordedEndpointsDeps &
  AnnouncedEndpointsDeps &
  ManagePaymentLinksDeps &
  ManageProductsDeps &
  RunOnceDeps &
  Uses<'operations' | 'endpoints' | 'invoices' | 'payments' | 'products' | 'idempotency' | 'catalog' | 'rates'> & {
    readonly keyRing: KeyRing
    readonly keyUse: KeyUse
    readonly limiter: RateLimiter
    readonly availability: QuoteAvailability
    readonly listCursor: ListCursor
    /** Check every response against its schema before it is sent; for development and tests. */
    readonly checkAnswers: boolean
    /** Trusted proxies in front that add to `X-Forwarded-For`; 0 = none. */
    readonly trustedProxies: number
    /** Public URL of the API, without path and trailing slash. */
    readonly publicUrl: string
    /** Folder of the built pages, including `reference`; null when they were not built. */
    readonly pagesDir: string | null
  }
