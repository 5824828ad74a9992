import type { Mode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'

/** Whose stored figures: of the invoices of a workspace in one hour, or of the deliveries to an endpoint in a quarter of one. */
export interface RollupSlot {
  readonly of: 'invoices' | 'deliveries'
  /** The workspace, or the endpoint. */
  readonly ownerId: string
  readonly mode: Mode
  /** When the hour or the quarter began. */
  readonly at: Ms
}

/** What a round may be told. */
export interface RollupControl {
  /** True ends the round early; the next one goes on from there. */
  readonly stop?: () => boolean
  /** Gets a line now and then while a round takes long. */
  readonly report?: (line: string) => void
}

/**
 * Figures of the front page, counted from the invoices and deliveries and stored per hour. Those are the truth: a stored figure is
 * always a full count of its slot, never a sum of changes. Every method may run in several processes at once and be killed anywhere.
 */
export interface Rollups {
  /** Counts again every slot in which something changed since the last round. Returns how many it counted. */
  catchUp(at: Ms, control?: RollupControl): Promise<number>
  /**
   * Compares stored figures with a full count: the slots of what was stamped in the last three hours, and a part of the others, so
   * that a week compares all. Corrects what differs and returns it.
   */
  repair(at: Ms, control?: RollupControl): Promise<readonly RollupSlot[]>
}
