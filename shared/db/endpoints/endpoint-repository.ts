import type { Database } from '#shared/db/connection/connect.ts'
import { duplicateKeyFields } from '#shared/db/connection/duplicate-key.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import { WEBHOOK_ENDPOINTS, type WebhookEndpoint } from './endpoint-model.ts'

/** Webhook endpoints on MongoDB. */
export function createEndpointRepository(db: Database) {
  const endpoints = db.collection(WEBHOOK_ENDPOINTS)
  return {
    /** `most`: of the workspace; checked where an audit row is stored with the endpoint, which throws `PLAN_LIMIT_REACHED`. */
    insert: async (endpoint: WebhookEndpoint, _most?: number | null): Promise<'inserted' | 'exists'> => {
      try {
        await endpoints.insertOne(WEBHOOK_ENDPOINTS.toDocument(endpoint))
        return 'inserted'
      } catch (error) {
        if (duplicateKeyFields(error) === null) throw error
        return 'exists'
      }
    },
    findById: async (id: string): Promise<WebhookEndpoint | null> => {
      const stored = await endpoints.findOne({ _id: id })
      return WEBHOOK_ENDPOINTS.toRecord(stored)
    },
    /** Those that exist, by id, in one majority read that starts after the call. */
    findByIds: async (ids: readonly string[]): Promise<ReadonlyMap<string, WebhookEndpoint>> => {
      const found = await endpoints.find({ _id: { $in: [...ids] } }).toArray()
      return new Map(found.map((stored) => [stored._id, WEBHOOK_ENDPOINTS.toRecord(stored)]))
    },
    /** Endpoints of a workspace, newest first; `receiving` restricts to those that get events of this mode. */
    list: async (workspaceId: string, receiving: Mode | null): Promise<readonly WebhookEndpoint[]> => {
      const ofMode = receiving === null ? {} : { mode: { $in: [receiving, 'both' as const] } }
      const found = await endpoints
        .find({ workspaceId, ...ofMode })
        .sort({ _id: -1 })
        .toArray()
      return found.map(WEBHOOK_ENDPOINTS.toRecord)
    },
    /** All endpoints of several workspaces, disabled ones included, in one majority read that starts after the call. */
    listOf: async (workspaceIds: readonly string[]): Promise<readonly WebhookEndpoint[]> =>
      (await endpoints.find({ workspaceId: { $in: [...workspaceIds] } }).toArray()).map(WEBHOOK_ENDPOINTS.toRecord),
    count: (workspaceId: string): Promise<number> => endpoints.countDocuments({ workspaceId }),
    remove: async (id: string): Promise<boolean> => (await endpoints.deleteOne({ _id: id })).deletedCount === 1,
    /** A test key deletes a `both` endpoint: it remains, live only. */
    restrictToLive: async (id: string): Promise<boolean> => {
      const result = await endpoints.updateOne(
        { _id: id, mode: 'both' },
        { $set: { mode: 'live' }, $currentDate: { updatedAt: true } },
      )
      return result.modifiedCount === 1
    },
  }
}

/** The type of what {@link createEndpointRepository} returns. */
export type EndpointRepository = ReturnType<typeof createEndpointRepository>
