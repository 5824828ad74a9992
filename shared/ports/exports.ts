import type { AuditRecord } from './audit.ts'

/** Records that data left the installation as a file. */
export interface ExportRecords {
  /** Stores the row, once per id. Rejects when it cannot be stored. */
  record(audit: AuditRecord): Promise<void>
}
