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
  /** Every recorded invoice (at most 10,000) with the time at which the sweep may return it again. */
  list(): Promise<ReadonlyMap<string, Ms>>
  /** Removes the record of an invoice that was brought up to date; returns its number of failures, 0 without a record. */
  forget(invoiceId: string): Promise<number>
}
