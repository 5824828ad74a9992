import type { Database } from '#shared/db/connection/connect.ts'
import type { ExportRecords } from '#shared/ports/exports.ts'
import { audited } from './audited.ts'

/** Rows about exports on MongoDB. An export only reads, so the transaction contains nothing else. */
export function createExportRecords(db: Database): ExportRecords {
  return {
    record: async (audit) => {
      await audited(db, audit, async () => true)
    },
  }
}
