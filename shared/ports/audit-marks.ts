/**
 * The newest number of the audit log as recorded outside of the store, so that a store which was cut, or put back to an earlier state,
 * does not pass for the newest. A break that was noticed takes its own number: the mark then names one that no row carries.
 */
export interface AuditMarks {
  /** The highest audit row number that any mark names; null when no place answers or none was written. */
  highest(): Promise<number | null>
  /** Raises the mark, never lowers it; best effort: never throws for an unreachable place. */
  raise(seq: number): Promise<void>
}
