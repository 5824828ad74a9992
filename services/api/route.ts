import type { Operation } from '#shared/contracts/openapi/operation.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import type { Answer } from '#shared/ports/answer.ts'
import type { Admission } from '#shared/ports/rate-limit.ts'
import type { Workspace } from '#shared/ports/workspaces.ts'
import type { OperationIds } from '#shared/usecases/requests/run-once.ts'
import type { ApiDeps } from './api-deps.ts'

/** One request after authentication and every check that does not depend on its content. */
export interface RequestContext {
  readonly requestId: string
  readonly workspace: Workspace
  readonly mode: Mode
  /** The actor as named in the audit log: `api_key:<id of the key>`. */
  readonly actor: string
  /** The address of the client. */
  readonly from: string
  /** Path parameters as received. */
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
    /** Whether the mark of its run was set; `busy` is that of another request with this key. */
    readonly marker: Admission['marker']
  } | null
  /** Ids of the resources that the operation creates, equal for every retry under one idempotency key. */
  readonly ids: OperationIds
}

/** Validates the request and runs it; expected failures are thrown as `PaymeshError`. */
export type Handler = (context: RequestContext) => Promise<Answer>

/** One operation of the API: its public part, and its implementation. */
export interface Route extends Operation {
  /** The handler stores and repeats responses under idempotency keys itself; for every other POST the edge does. */
  readonly keepsIdempotencyItself: boolean
  readonly handler: (deps: ApiDeps) => Handler
}
