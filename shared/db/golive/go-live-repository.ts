import { AUDIT_LOG } from '#shared/db/audit/audit-model.ts'
import { audited } from '#shared/db/audit/audited.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate, toMs } from '#shared/db/connection/dates.ts'
import type { GoLiveStatement } from '#shared/domain/golive/go-live.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { AuditWrite } from '#shared/ports/audit.ts'
import type { GoLiveScope } from '#shared/ports/go-live.ts'
import { GO_LIVE_STATEMENTS } from './go-live-model.ts'

/** Statements before going live, on MongoDB. */
export function createGoLiveRepository(db: Database) {
  const statements = db.collection(GO_LIVE_STATEMENTS)
  const audits = db.collection(AUDIT_LOG)
  return {
    list: async ({ workspaceId, mode }: GoLiveScope): Promise<readonly GoLiveStatement[]> => {
      const found = await statements.find({ workspaceId, mode }).toArray()
      return found.map(({ item, at, by, evidence, holds, ref }) => {
        return { item, at: toMs(at), by, evidence, holds, ref }
      })
    },
    /**
     * Stores a statement in place of the item's former one, with the audit row and its mails, all or none. False, and nothing stored, when a
     * row with this id is stored already.
     */
    record: (
      { workspaceId, mode }: GoLiveScope,
      { at, ...statement }: GoLiveStatement,
      recorded: AuditWrite,
    ): Promise<boolean> =>
      audited(db, recorded, async (session) => {
        const change = { $set: { ...statement, workspaceId, mode, at: toDate(at) } }
        await statements.updateOne({ _id: `${workspaceId}:${mode}:${statement.item}` }, change, {
          upsert: true,
          session,
        })
        return true
      }),
    /** When the newest back-up was made, from the audit log; null without one. */
    async lastBackupAt(): Promise<Ms | null> {
      // Ids are `<action>:<uuid of its time>`.
      const [row] = await audits
        .find({ _id: { $gte: 'backup.ended:', $lt: 'backup.ended;' } }, { projection: { at: 1 } })
        .sort({ _id: -1 })
        .limit(1)
        .toArray()
      return row === undefined ? null : toMs(row.at)
    },
  }
}
