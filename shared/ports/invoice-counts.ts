import type { Mode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'

/** Invoices of one calendar month (UTC), by the time in their ids. */
export interface MonthCount {
  readonly all: number
  /** Of them, those created by visitors of payment links. */
  readonly byLinks: number
}

/** The month that contains a time, of one workspace and mode. */
export interface MonthScope {
  readonly workspaceId: string
  readonly mode: Mode
  readonly at: Ms
}

/** A stored count that a repair found wrong. */
export interface CountRepair {
  readonly workspaceId: string
  readonly mode: Mode
  /** `2026-11` */
  readonly month: string
  readonly stored: number
  readonly right: number
}

/** How many invoices were created in a month. The invoices are authoritative; the stored count only saves reading them again. */
export interface InvoiceCounts {
  /**
   * Invoices of the month so far. While more than 1,000 are left below `limit` the result may be as many milliseconds old as are left, 30 s at
   * most, with every request of this process since then counted as an invoice, and requests that come together share one
   * reading; closer to it, it is read for each request.
   */
  inMonth(scope: MonthScope, limit: number): Promise<MonthCount>
  /**
   * Compares the stored counts of running months with the invoices since the last comparison and corrects them: an
   * invoice may be stored minutes after its id was made. Safe to run in several processes at once and to be killed anywhere.
   */
  repair(at: Ms): Promise<readonly CountRepair[]>
}
