import { audited, isRecorded } from '#shared/db/audit/audited.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate } from '#shared/db/connection/dates.ts'
import { WEBHOOK_ENDPOINTS } from '#shared/db/endpoints/endpoint-model.ts'
import { EVENTS } from '#shared/db/events/event-model.ts'
import { eventToDocument } from '#shared/db/events/event-repository.ts'
import { requirePlace } from '#shared/db/workspaces/plan-place.ts'
import type { EndpointOperations } from '#shared/ports/endpoint-operations.ts'
import { WEBHOOK_DELIVERIES } from './delivery-model.ts'
import { deliveryToDocument } from './delivery-repository.ts'

/** Actions on endpoints and deliveries on MongoDB, one transaction each. */
export function createEndpointOperations(db: Database): EndpointOperations {
  const endpoints = db.collection(WEBHOOK_ENDPOINTS)
  const deliveries = db.collection(WEBHOOK_DELIVERIES)
  const events = db.collection(EVENTS)
  return {
    insert: (endpoint, audit, most = null) =>
      audited(db, audit, async (session) => {
        const { _id, ...rest } = WEBHOOK_ENDPOINTS.toDocument(endpoint)
        const { workspaceId } = endpoint
        if (most !== null && (await endpoints.findOne({ _id }, { session })) === null)
          await requirePlace(db, { workspaceId, most, session }, () =>
            endpoints.countDocuments({ workspaceId }, { session }),
          )
        const added = await endpoints.updateOne({ _id }, { $setOnInsert: rest }, { upsert: true, session })
        return added.upsertedCount === 1
      }),
    update: (id, from, { events: types, description }, at, audit) =>
      audited(db, audit, async (session) => {
        const change = { $set: WEBHOOK_ENDPOINTS.toFields({ events: types, description, updatedAt: at }) }
        return (await endpoints.updateOne({ _id: id, updatedAt: toDate(from) }, change, { session })).matchedCount === 1
      }),
    remove: (id, audit) =>
      audited(db, audit, async (session) => (await endpoints.deleteOne({ _id: id }, { session })).deletedCount === 1),
    restrictToLive: (id, audit) =>
      audited(db, audit, async (session) => {
        const change = { $set: { mode: 'live' as const, updatedAt: toDate(audit.at) } }
        return (await endpoints.updateOne({ _id: id, mode: 'both' }, change, { session })).matchedCount === 1
      }),
    setStatus: (id, status, at, audit) =>
      audited(db, audit, async (session) => {
        const switchedAt = { [status === 'enabled' ? 'enabledAt' : 'disabledAt']: toDate(at) }
        const change = { $set: { status, updatedAt: toDate(at), ...switchedAt } }
        return (await endpoints.updateOne({ _id: id, status: { $ne: status } }, change, { session })).matchedCount === 1
      }),
    rotate: (id, from, { sealedSecrets, formerSecrets, rotatedBy }, at, audit) =>
      audited(db, audit, async (session) => {
        const change = { $set: WEBHOOK_ENDPOINTS.toFields({ sealedSecrets, formerSecrets, rotatedBy, updatedAt: at }) }
        const held = { _id: id, 'sealedSecrets.0': from }
        return (await endpoints.updateOne(held, change, { session })).matchedCount === 1
      }),
    addDelivery: (delivery, event, audit) =>
      audited(db, audit, async (session) => {
        if (event !== null) {
          const { _id, ...rest } = eventToDocument(event)
          await events.updateOne({ _id }, { $setOnInsert: rest }, { upsert: true, session })
        }
        const { _id, ...rest } = deliveryToDocument(delivery)
        const added = await deliveries.updateOne({ _id }, { $setOnInsert: rest }, { upsert: true, session })
        return added.upsertedCount === 1
      }),
    isRecorded: (auditId) => isRecorded(db, auditId),
  }
}
