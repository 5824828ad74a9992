import type { Ms } from '#shared/domain/invoice/model.ts'
import type { AuditRecord } from './audit.ts'
import type { Delivery } from './deliveries.ts'
import type { WebhookEndpoint } from './endpoints.ts'
import type { EventRecord } from './events.ts'
import type { Recorded } from './users.ts'

/** Operator changes of webhook endpoints and deliveries. Each is stored together with its audit row: both or neither. */
export interface EndpointOperations {
  /** False when the action was recorded before; then nothing is stored. Throws `PLAN_LIMIT_REACHED` when the workspace has `most` endpoints already. */
  insert(endpoint: WebhookEndpoint, audit: Recorded, most?: number | null): Promise<boolean>
  /** Changes an endpoint that was last changed at `from`; false when it was changed since, is gone, or the action was recorded before. */
  update(
    id: string,
    from: Ms,
    change: Pick<WebhookEndpoint, 'events' | 'description'>,
    at: Ms,
    audit: Recorded,
  ): Promise<boolean>
  /** As `EndpointRepository.remove`. */
  remove(id: string, audit: Recorded): Promise<boolean>
  /** As `EndpointRepository.restrictToLive`. */
  restrictToLive(id: string, audit: AuditRecord): Promise<boolean>
  /** False when the endpoint already has that status, or is gone. */
  setStatus(id: string, status: WebhookEndpoint['status'], at: Ms, audit: Recorded): Promise<boolean>
  /** Replaces the secrets while `from` is still the current one; false when it is not. */
  rotate(
    id: string,
    from: string,
    next: Required<Pick<WebhookEndpoint, 'sealedSecrets' | 'formerSecrets' | 'rotatedBy'>>,
    at: Ms,
    audit: Recorded,
  ): Promise<boolean>
  /** Stores a delivery, and its event if that is new; false when the delivery already exists. */
  addDelivery(delivery: Delivery, event: EventRecord | null, audit: AuditRecord): Promise<boolean>
  /** Whether an action with this audit row has run. */
  isRecorded(auditId: string): Promise<boolean>
}
