import type { Mode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'

/** Consecutive failures to bring one invoice up to date. */
export interface AdvanceFailure {
  /** Including this one. */
  readonly failures: number
  /** The invoice's workspace and mode; null when unknown. */
  readonly owner: { readonly workspaceId: string; readonly mode: Mode } | null
}

/** Invoices that could not be brought up to date, for all processes: when the sweep may return them again. */
export interface AdvanceFailures {
  /** Records another consecutive failure; the sweep skips the invoice until `pauseOf` of their number has passed since `at`. */
  note(invoiceId: string, at: Ms, pauseOf: (failures: number) => Ms): Promise<AdvanceFailure>
  /** Recorded invoices, at most the 10,000 that failed last. */
  list(): Promise<ReadonlySet<string>>
  /** Those of these invoices that the sweep may not return yet at a time, however many are recorded. */
  pausing(invoiceIds: readonly string[], at: Ms): Promise<ReadonlySet<string>>
  /** Removes the record of an invoice that was brought up to date; returns its number of failures, 0 without a record. */
  forget(invoiceId: string): Promise<number>
}
