import type { Recovery } from '#shared/db/deliveries/recovery-model.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { AuditRecord } from './audit.ts'

export type { Recovery } from '#shared/db/deliveries/recovery-model.ts'

export interface RecoveryRepository {
  /** Stores the request with its audit row; returns the open one if the endpoint has one. */
  ask(recovery: Recovery, audit: AuditRecord): Promise<Recovery>
  findById(id: string): Promise<Recovery | null>
  /** Newest first. */
  listByEndpoint(endpointId: string, limit: number): Promise<readonly Recovery[]>
  /** Open ones without a worker. */
  due(until: Ms, limit: number): Promise<readonly string[]>
  /** Claims an open one that is due; null otherwise. */
  claim(id: string, token: string, leaseMs: Ms): Promise<Recovery | null>
  /** Advances it and extends the lease; false when the lease was lost. */
  progress(id: string, token: string, next: Pick<Recovery, 'place' | 'scanned' | 'made'>, leaseMs: Ms): Promise<boolean>
  /** Releases it for `pauseMs`. */
  pause(id: string, token: string, pauseMs: Ms): Promise<void>
  /** Ends it, with its audit row; false when the lease was lost. */
  finish(id: string, token: string, state: 'done' | 'cancelled', at: Ms, audit: AuditRecord): Promise<boolean>
}
