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
