import { AUDIT_LOG } from '#shared/db/audit/audit-model.ts'
import { audited } from '#shared/db/audit/audited.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate, toMs } from '#shared/db/connection/dates.ts'
import type { GoLiveRepository } from '#shared/ports/go-live.ts'
import { GO_LIVE_STATEMENTS } from './go-live-model.ts'

/** Statements before going live, on MongoDB. */
export function createGoLiveRepository(db: Database): GoLiveRepository {
  const statements = db.collection(GO_LIVE_STATEMENTS)
  const audits = db.collection(AUDIT_LOG)
  return {
    list: async ({ workspaceId, mode }) => {
      const found = await statements.find({ workspaceId, mode }).toArray()
      return found.map(({ item, at, by, evidence, holds, ref }) => {
        return { item, at: toMs(at), by, evidence, holds, ref }
      })
    },
    record: ({ workspaceId, mode }, { at, ...statement }, recorded) =>
      audited(db, recorded, async (session) => {
        const change = { $set: { ...statement, workspaceId, mode, at: toDate(at) } }
        await statements.updateOne({ _id: `${workspaceId}:${mode}:${statement.item}` }, change, {
          upsert: true,
          session,
        })
        return true
      }),
    async lastBackupAt() {
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
