import type { AuditRecord } from '#shared/db/audit/audit-model.ts'
import { audited, isRecorded } from '#shared/db/audit/audited.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate } from '#shared/db/connection/dates.ts'
import { unlessTaken } from '#shared/db/connection/duplicate-key.ts'
import { type EndpointChange, WEBHOOK_ENDPOINTS, type WebhookEndpoint } from '#shared/db/endpoints/endpoint-model.ts'
import { EVENTS } from '#shared/db/events/event-model.ts'
import { eventToDocument } from '#shared/db/events/event-repository.ts'
import { requirePlace } from '#shared/db/workspaces/plan-place.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { EventRecord } from '#shared/ports/events.ts'
import type { AuditInput } from '#shared/ports/users.ts'
import { type Delivery, WEBHOOK_DELIVERIES } from './delivery-model.ts'
import { deliveryToDocument } from './delivery-repository.ts'

/** Webhook endpoints on MongoDB. */
export function createEndpointRepository(db: Database) {
  const endpoints = db.collection(WEBHOOK_ENDPOINTS)
  return {
    /** `most`: of the workspace; checked where an audit row is stored with the endpoint, which throws `PLAN_LIMIT_REACHED`. */
    insert: async (endpoint: WebhookEndpoint, _most?: number | null): Promise<'inserted' | 'exists'> =>
      (await unlessTaken(() => endpoints.insertOne(WEBHOOK_ENDPOINTS.toDocument(endpoint)))) ? 'inserted' : 'exists',
    findById: async (id: string): Promise<WebhookEndpoint | null> =>
      WEBHOOK_ENDPOINTS.toRecord(await endpoints.findOne({ _id: id })),
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

/** Actions on endpoints and deliveries on MongoDB, one transaction each. */
export function createEndpointOperations(db: Database) {
  const endpoints = db.collection(WEBHOOK_ENDPOINTS)
  const deliveries = db.collection(WEBHOOK_DELIVERIES)
  const events = db.collection(EVENTS)
  return {
    /** False when the action was recorded before; then nothing is stored. Throws `PLAN_LIMIT_REACHED` when the workspace has `most` endpoints already. */
    insert: (endpoint: WebhookEndpoint, audit: AuditInput, most: number | null = null): Promise<boolean> =>
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
    /** Changes an endpoint that was last changed at `from`; false when it was changed since, is gone, or the action was recorded before. */
    update: (
      id: string,
      from: Ms,
      { events: types, ...own }: EndpointChange,
      at: Ms,
      audit: AuditInput,
    ): Promise<boolean> =>
      audited(db, audit, async (session) => {
        const change = { $set: WEBHOOK_ENDPOINTS.toFields({ events: types, ...own, updatedAt: at }) }
        return (await endpoints.updateOne({ _id: id, updatedAt: toDate(from) }, change, { session })).matchedCount === 1
      }),
    /** As `EndpointRepository.remove`. */
    remove: (id: string, audit: AuditInput): Promise<boolean> =>
      audited(db, audit, async (session) => (await endpoints.deleteOne({ _id: id }, { session })).deletedCount === 1),
    /** As `EndpointRepository.restrictToLive`. */
    restrictToLive: (id: string, audit: AuditRecord): Promise<boolean> =>
      audited(db, audit, async (session) => {
        const change = { $set: { mode: 'live' as const, updatedAt: toDate(audit.at) } }
        return (await endpoints.updateOne({ _id: id, mode: 'both' }, change, { session })).matchedCount === 1
      }),
    /** False when the endpoint already has that status, or is gone. */
    setStatus: (id: string, status: WebhookEndpoint['status'], at: Ms, audit: AuditInput): Promise<boolean> =>
      audited(db, audit, async (session) => {
        const switchedAt = { [status === 'enabled' ? 'enabledAt' : 'disabledAt']: toDate(at) }
        const change = { $set: { status, updatedAt: toDate(at), ...switchedAt } }
        return (await endpoints.updateOne({ _id: id, status: { $ne: status } }, change, { session })).matchedCount === 1
      }),
    /** Replaces the secrets while `from` is still the current one; false when it is not. */
    rotate: (
      id: string,
      from: string,
      {
        sealedSecrets,
        formerSecrets,
        rotatedBy,
      }: Required<Pick<WebhookEndpoint, 'sealedSecrets' | 'formerSecrets' | 'rotatedBy'>>,
      at: Ms,
      audit: AuditInput,
    ): Promise<boolean> =>
      audited(db, audit, async (session) => {
        const change = { $set: WEBHOOK_ENDPOINTS.toFields({ sealedSecrets, formerSecrets, rotatedBy, updatedAt: at }) }
        const held = { _id: id, 'sealedSecrets.0': from }
        return (await endpoints.updateOne(held, change, { session })).matchedCount === 1
      }),
    /** Stores a delivery, and its event if that is new; false when the delivery already exists. */
    addDelivery: (delivery: Delivery, event: EventRecord | null, audit: AuditRecord): Promise<boolean> =>
      audited(db, audit, async (session) => {
        if (event !== null) {
          const { _id, ...rest } = eventToDocument(event)
          await events.updateOne({ _id }, { $setOnInsert: rest }, { upsert: true, session })
        }
        const { _id, ...rest } = deliveryToDocument(delivery)
        const added = await deliveries.updateOne({ _id }, { $setOnInsert: rest }, { upsert: true, session })
        return added.upsertedCount === 1
      }),
    /** Whether an action with this audit row has run. */
    isRecorded: (auditId: string): Promise<boolean> => isRecorded(db, auditId),
  }
}

/** The type of what {@link createEndpointOperations} returns. */
export type EndpointOperations = ReturnType<typeof createEndpointOperations>
