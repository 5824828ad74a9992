import { AUDIT_LOG } from '#shared/db/audit/audit-model.ts'
import { audited } from '#shared/db/audit/audited.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate } from '#shared/db/connection/dates.ts'
import type { GoLiveResult } from '#shared/domain/golive/go-live.ts'
import type { GoLiveRepository } from '#shared/ports/go-live.ts'
import { GO_LIVE_RESULTS, type GoLiveDocument } from './go-live-model.ts'

/** Results before going live, on MongoDB. */
export function createGoLiveRepository(db: Database): GoLiveRepository {
  const results = db.collection(GO_LIVE_RESULTS)
  const audits = db.collection(AUDIT_LOG)
  return {
    list: async ({ workspaceId, mode }) => (await results.find({ workspaceId, mode }).toArray()).map(fromDocument),
    record: ({ workspaceId, mode }, found, recorded) =>
      audited(db, recorded, async (session) => {
        for (const { at, ...result } of found) {
          const _id = `${workspaceId}:${mode}:${result.item}`
          const stored = await results.findOne({ _id }, { projection: { at: 1 }, session })
          if (stored !== null && stored.at.getTime() > at) continue
          const change = { $set: { ...result, workspaceId, mode, at: toDate(at) } }
          await results.updateOne({ _id }, change, { upsert: true, session })
        }
        return true
      }),
    async lastBackupAt() {
      // Ids are `<action>:<uuid of its time>`.
      const [row] = await audits
        .find({ _id: { $gte: 'backup.ended:', $lt: 'backup.ended;' } }, { projection: { at: 1 } })
        .sort({ _id: -1 })
        .limit(1)
        .toArray()
      return row?.at.getTime() ?? null
    },
  }
}

function fromDocument({ item, outcome, at, by, evidence, reason, about, ref }: GoLiveDocument): GoLiveResult {
  return { item, outcome, at: at.getTime(), by, evidence, reason: reason ?? null, about, ref: ref ?? null }
}
