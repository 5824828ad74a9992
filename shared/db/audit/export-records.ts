import type { Database } from '#shared/db/connection/connect.ts'
import type { AuditRecord } from './audit-model.ts'
import { audited } from './audited.ts'

/** Rows about exports on MongoDB. An export only reads, so the transaction contains nothing else. */
export function createExportRecords(db: Database) {
  return {
    /** Stores the row, once per id. Rejects when it cannot be stored. */
    record: async (audit: AuditRecord): Promise<void> => {
      await audited(db, audit, async () => true)
    },
  }
}
