import type { Database } from '#shared/db/connection/connect.ts'
import { duplicateKeyFields } from '#shared/db/connection/duplicate-key.ts'
import type { EndpointRepository } from '#shared/ports/endpoints.ts'
import { WEBHOOK_ENDPOINTS } from './endpoint-model.ts'

/** Webhook endpoints on MongoDB. */
export function createEndpointRepository(db: Database): EndpointRepository {
  const endpoints = db.collection(WEBHOOK_ENDPOINTS)
  return {
    insert: async (endpoint) => {
      try {
        await endpoints.insertOne(WEBHOOK_ENDPOINTS.toDocument(endpoint))
        return 'inserted'
      } catch (error) {
        if (duplicateKeyFields(error) === null) throw error
        return 'exists'
      }
    },
    findById: async (id) => {
      const stored = await endpoints.findOne({ _id: id })
      return WEBHOOK_ENDPOINTS.toRecord(stored)
    },
    findByIds: async (ids) => {
      const found = await endpoints.find({ _id: { $in: [...ids] } }).toArray()
      return new Map(found.map((stored) => [stored._id, WEBHOOK_ENDPOINTS.toRecord(stored)]))
    },
    list: async (workspaceId, receiving) => {
      const ofMode = receiving === null ? {} : { mode: { $in: [receiving, 'both' as const] } }
      const found = await endpoints
        .find({ workspaceId, ...ofMode })
        .sort({ _id: -1 })
        .toArray()
      return found.map(WEBHOOK_ENDPOINTS.toRecord)
    },
    listOf: async (workspaceIds) =>
      (await endpoints.find({ workspaceId: { $in: [...workspaceIds] } }).toArray()).map(WEBHOOK_ENDPOINTS.toRecord),
    count: (workspaceId) => endpoints.countDocuments({ workspaceId }),
    remove: async (id) => (await endpoints.deleteOne({ _id: id })).deletedCount === 1,
    restrictToLive: async (id) => {
      const result = await endpoints.updateOne(
        { _id: id, mode: 'both' },
        { $set: { mode: 'live' }, $currentDate: { updatedAt: true } },
      )
      return result.modifiedCount === 1
    },
  }
}
