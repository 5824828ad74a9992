import type { EventType, Mode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'

export interface WebhookEndpoint {
  readonly id: string
  readonly workspaceId: string
  readonly url: string
  /** `*` or event types. */
  readonly events: readonly ('*' | EventType)[]
  readonly mode: 'live' | 'test' | 'both'
  readonly description: string | null
  readonly status: 'enabled' | 'disabled'
  /** AES-256-GCM envelopes of `whsec_…` secrets, current first. */
  readonly sealedSecrets: readonly string[]
  /** Secrets from before a rotation, newest first; each signs the Standard Webhooks header until it expires. */
  readonly formerSecrets: readonly { readonly sealed: string; readonly until: Ms }[]
  /** The last rotation, so that a repetition of it is recognised. */
  readonly rotatedBy?: string
  /** When it was last disabled; absent when it never was. */
  readonly disabledAt?: Ms
  /** When it was last enabled again; absent when it never was. */
  readonly enabledAt?: Ms
  readonly createdAt: Ms
  readonly updatedAt: Ms
  readonly opId: string | null
}

export interface EndpointRepository {
  /** `most`: of the workspace; checked where an audit row is stored with the endpoint, which throws `PLAN_LIMIT_REACHED`. */
  insert(endpoint: WebhookEndpoint, most?: number | null): Promise<'inserted' | 'exists'>
  findById(id: string): Promise<WebhookEndpoint | null>
  /** Those that exist, by id, in one majority read that starts after the call. */
  findByIds(ids: readonly string[]): Promise<ReadonlyMap<string, WebhookEndpoint>>
  /** Endpoints of a workspace, newest first; `receiving` restricts to those that get events of this mode. */
  list(workspaceId: string, receiving: Mode | null): Promise<readonly WebhookEndpoint[]>
  /** All endpoints of several workspaces, disabled ones included, in one majority read that starts after the call. */
  listOf(workspaceIds: readonly string[]): Promise<readonly WebhookEndpoint[]>
  count(workspaceId: string): Promise<number>
  remove(id: string): Promise<boolean>
  /** A test key deletes a `both` endpoint: it remains, live only. */
  restrictToLive(id: string): Promise<boolean>
}
