import type { Database } from '../../connection/connect.ts'

/** Dependencies of a migration. */
export interface MigrationContext {
  readonly db: Database
  /** The last value passed to `keep`, by this run or one that was interrupted; null at the first start. */
  readonly cursor: string | null
  /** Records the progress of the migration, and that it still runs here. Throws when another process took over; the migration must then end. */
  keep(cursor: string): Promise<void>
  /** Prints a line of progress for the operator. */
  report(line: string): void
}

/**
 * One change of stored data. Ids count up from 1 and are never reused. `up` may be killed anywhere and is then run again with the last
 * cursor it kept; it must be safe to repeat, and must not disturb running processes of the previous version.
 */
export interface Migration {
  readonly id: number
  readonly description: string
  /** Oldest schema version whose code may still work on the data afterwards. */
  readonly readableBy: number
  up(context: MigrationContext): Promise<void>
}
