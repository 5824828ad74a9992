import type { Database } from '../../connection/connect.ts'

/** What a migration works with. */
export interface MigrationContext {
  readonly db: Database
  /** What `keep` was told last, by this run or one that was interrupted; null at the first start. */
  readonly cursor: string | null
  /** Notes how far the migration is, and that it still runs here. Throws when another process took over; then it must end. */
  keep(cursor: string): Promise<void>
}

/**
 * One change of stored data. Ids count up from 1 and are never used again. `up` may be killed anywhere and is then run again with the last
 * cursor it kept; what it does must do no harm twice, and must not disturb processes of the version before that still run.
 */
export interface Migration {
  readonly id: number
  readonly description: string
  /** Oldest schema version whose code may still work on the data afterwards. */
  readonly readableBy: number
  up(context: MigrationContext): Promise<void>
}
