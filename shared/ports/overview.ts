import type { InvoiceFigures } from '#shared/domain/books/invoice-books.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'

/** A stretch of time of one workspace. `until` is exclusive. */
export interface OverviewSpan {
  readonly workspaceId: string
  readonly mode: Mode
  readonly since: Ms
  readonly until: Ms
}

/** Figures of the hour, or the quarter of an hour, that began at `at`. */
export interface InvoiceSlot {
  readonly at: Ms
  readonly figures: InvoiceFigures
}

/** Deliveries that were made in a stretch of time. */
export interface DeliveryFigures {
  readonly made: number
  /** Tried at least once; of them, those that succeeded with their first attempt. */
  readonly tried: number
  readonly firstTry: number
  readonly succeeded: number
  readonly failed: number
}

/** Deliveries of one endpoint. */
export interface DeliveryCounts extends DeliveryFigures {
  readonly endpointId: string
  /** How long the first attempts of the newest of them took, of at most 200. */
  readonly firstAttemptsMs: readonly number[]
}
