import type { IdempotencyRecord } from '#shared/db/requests/idempotency-model.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'

export type { IdempotencyRecord } from '#shared/db/requests/idempotency-model.ts'

export interface IdempotencyRepository {
  /** Begins or resumes an operation. `begun` and `resumed` return a fencing token; `done` returns the stored response. */
  begin(
    id: string,
    fingerprint: string,
    resourceId: string,
    at: Ms,
    leaseMs: number,
  ): Promise<
    | { outcome: 'begun' | 'resumed'; resourceId: string; fencingToken: number }
    | { outcome: 'done'; response: { status: number; body: string } }
    | { outcome: 'mismatch' }
    | { outcome: 'in_progress' }
  >
  /** Moves the end of the lease if the token is still current and no response is stored. */
  renew(id: string, fencingToken: number, leaseUntil: Ms): Promise<void>
  /** Stores the response if the token is still current. */
  finish(id: string, fencingToken: number, response: { status: number; body: string }): Promise<void>
  /** Removes an operation whose response must not be replayed. */
  release(id: string, fencingToken: number): Promise<void>
  /** Ends the lease of an operation whose outcome is unclear: a retry resumes it at once under the same resource id. */
  giveUp(id: string, fencingToken: number): Promise<void>
  find(id: string): Promise<IdempotencyRecord | null>
  /** Several records in one read; unknown ids are left out. For the create path, which serves many requests at once. */
  findMany(ids: readonly string[]): Promise<readonly IdempotencyRecord[]>
}
