import type { Database } from '#shared/db/connection/connect.ts'
import { toDate, toMs } from '#shared/db/connection/dates.ts'
import { duplicateKeyFields } from '#shared/db/connection/duplicate-key.ts'
import type { EndpointRepository, WebhookEndpoint } from '#shared/ports/endpoints.ts'
import { type EndpointDocument, WEBHOOK_ENDPOINTS } from './endpoint-model.ts'

/** Webhook endpoints on MongoDB. */
export function createEndpointRepository(db: Database): EndpointRepository {
  const endpoints = db.collection(WEBHOOK_ENDPOINTS)
  return {
    insert: async (endpoint) => {
      try {
        await endpoints.insertOne(endpointToDocument(endpoint))
        return 'inserted'
      } catch (error) {
        if (duplicateKeyFields(error) === null) throw error
        return 'exists'
      }
    },
    findById: async (id) => {
      const stored = await endpoints.findOne({ _id: id })
      return stored === null ? null : fromDocument(stored)
    },
    findByIds: async (ids) => {
      const found = await endpoints.find({ _id: { $in: [...ids] } }).toArray()
      return new Map(found.map((stored) => [stored._id, fromDocument(stored)]))
    },
    list: async (workspaceId, receiving) => {
      const ofMode = receiving === null ? {} : { mode: { $in: [receiving, 'both' as const] } }
      const found = await endpoints
        .find({ workspaceId, ...ofMode })
        .sort({ _id: -1 })
        .toArray()
      return found.map(fromDocument)
    },
    listOf: async (workspaceIds) =>
      (await endpoints.find({ workspaceId: { $in: [...workspaceIds] } }).toArray()).map(fromDocument),
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

/** The stored form of an endpoint. */
export function endpointToDocument(endpoint: WebhookEndpoint): EndpointDocument {
  const { id, createdAt, updatedAt, disabledAt, enabledAt, ...same } = endpoint
  return {
    _id: id,
    ...same,
    createdAt: toDate(createdAt),
    updatedAt: toDate(updatedAt),
    ...(disabledAt !== undefined && { disabledAt: toDate(disabledAt) }),
    ...(enabledAt !== undefined && { enabledAt: toDate(enabledAt) }),
  }
}

function fromDocument(stored: EndpointDocument): WebhookEndpoint {
  const { _id, createdAt, updatedAt, disabledAt, enabledAt, ...same } = stored
  return {
    id: _id,
    ...same,
    createdAt: toMs(createdAt),
    updatedAt: toMs(updatedAt),
    ...(disabledAt !== undefined && { disabledAt: toMs(disabledAt) }),
    ...(enabledAt !== undefined && { enabledAt: toMs(enabledAt) }),
  }
}
