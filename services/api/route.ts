import type { Mode, Scope } from '#shared/domain/enumerations.ts'
import type { Answer } from '#shared/usecases/ports/answer.ts'
import type { Workspace } from '#shared/usecases/ports/tenancy.ts'
import type { OperationIds } from '#shared/usecases/run-once.ts'
import type { ApiDeps } from './api-deps.ts'

/** One request after authentication and every check that does not depend on its content. */
export interface RequestContext {
  readonly requestId: string
  readonly workspace: Workspace
  readonly mode: Mode
  /** Whose request it is, as the audit trail names them: `api_key:<id of the key>`. */
  readonly actor: string
  /** Path parameters as they came; endpoints validate them. */
  readonly params: Readonly<Record<string, unknown>>
  /** Query parameters, each at most once. */
  readonly query: Readonly<Record<string, string>>
  /** The raw body; empty for GET and DELETE. */
  readonly rawBody: Buffer
  /** Set when a POST carries an `Idempotency-Key`. */
  readonly once: {
    readonly key: string
    readonly scope: string
    readonly fingerprint: string
    /** Another request with this key seems to be running right now. */
    readonly busy: boolean
  } | null
  /** Ids for what the operation creates, equal for every retry under one idempotency key. */
  readonly ids: OperationIds
}

/** Validates the request and does the work; expected failures are thrown as `PaymeshError`. */
export type Handler = (context: RequestContext) => Promise<Answer>

/** One operation of the interface. The list in `routes.ts` is all the edge knows about it. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** Below `/api/v1`, with `:id` for the resource. */
  readonly path: string
  readonly scope: Scope
  /** Live keys get `TEST_MODE_ONLY`. */
  readonly testOnly?: true
  /** Restricted workspaces get `WORKSPACE_RESTRICTED`. */
  readonly restricted?: true
  /** `stored` keeps the answer of a POST under its idempotency key; `own` leaves that to the endpoint. */
  readonly idempotency?: 'stored' | 'own'
  readonly endpoint: (deps: ApiDeps) => Handler
}
