import type { Mode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'

/** Something a person did to the installation or to a merchant's data. Written once, never changed. */
export interface AuditRecord {
  /** Deterministic where the deed can be repeated, so that it is noted once. */
  readonly id: string
  readonly at: Ms
  /** Who: `cli:<operating-system user>`. */
  readonly actor: string
  /** What: `chain.rescan`, `invoice.funds_accepted`, … */
  readonly action: string
  /** To what: a resource's id, or `<mode>:<network>` for a chain. */
  readonly subject: string
  readonly workspaceId: string | null
  readonly mode: Mode | null
  /** Parameters and outcome, by name. */
  readonly detail: Readonly<Record<string, string | number | boolean | null>>
}

/** The audit trail. Deeds on documents without an outbox write their row in the same transaction as the deed. */
export interface AuditRepository {
  /** Adds what is missing. */
  insertMany(records: readonly AuditRecord[]): Promise<void>
  /** Rows about one subject, oldest first. */
  listBySubject(subject: string): Promise<readonly AuditRecord[]>
}
