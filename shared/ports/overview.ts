import type { FiatCode, InvoiceStatus, Mode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'

/** A stretch of time of one workspace; days are those of `zone`, an IANA name. `until` is exclusive. */
export interface OverviewSpan {
  readonly workspaceId: string
  readonly mode: Mode
  readonly since: Ms
  readonly until: Ms
  readonly zone: string
}

/** Invoices that were paid on one day in one currency with one coin. */
export interface PaidRow {
  /** `2026-11-19`. */
  readonly day: string
  readonly currency: FiatCode
  /** Of the coin, in capitals; null when no coin was ever chosen. */
  readonly symbol: string | null
  /** Exact sum in minor units. */
  readonly minor: bigint
  readonly count: number
}

/** Invoices that were created on one day and have come this far. */
export interface CreatedRow {
  readonly day: string
  readonly status: InvoiceStatus
  readonly coinChosen: boolean
  readonly count: number
}

/** From choosing a coin to being paid. */
export interface PaidTime {
  readonly paidAt: Ms
  readonly tookMs: Ms
}

/** Deliveries of one endpoint that were made in a stretch of time. */
export interface DeliveryCounts {
  readonly endpointId: string
  readonly made: number
  /** Tried at least once; of them, those that arrived by their first attempt. */
  readonly tried: number
  readonly firstTry: number
  readonly succeeded: number
  readonly failed: number
  /** How long the first attempts of the newest of them took. */
  readonly firstAttemptsMs: readonly number[]
}

/** Reads for the front page. Each looks at no more rows than `MAX_ROWS`, the newest ones. */
export interface OverviewReads {
  paid(span: OverviewSpan): Promise<readonly PaidRow[]>
  created(span: OverviewSpan): Promise<readonly CreatedRow[]>
  /** Newest first, at most 2,000. */
  timesToPaid(span: OverviewSpan): Promise<readonly PaidTime[]>
  deliveries(endpointIds: readonly string[], mode: Mode, since: Ms): Promise<readonly DeliveryCounts[]>
  /** Whether the workspace has ever been paid in this mode, and has any invoice. */
  beginnings(workspaceId: string, mode: Mode): Promise<{ readonly invoice: boolean; readonly paid: boolean }>
}

/** More rows than this are not looked at; a sum that met the bound says so. */
export const MAX_ROWS = 50_000
