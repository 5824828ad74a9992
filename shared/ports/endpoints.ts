import type { WebhookEndpoint } from '#shared/db/endpoints/endpoint-model.ts'
import type { Mode } from '#shared/domain/enumerations.ts'

export type { WebhookEndpoint } from '#shared/db/endpoints/endpoint-model.ts'

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
