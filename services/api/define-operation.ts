import type { z } from 'zod'
import type { ErrorDetail } from '#shared/contracts/errors.ts'
import { type ListMeta, successEnvelope } from '#shared/contracts/http/envelope.ts'
import { noQuery } from '#shared/contracts/http/list-query.ts'
import { pathId } from '#shared/contracts/http/path-id.ts'
import { emptyBody } from '#shared/contracts/http/simulate-request.ts'
import { validate, validateWith } from '#shared/contracts/http/validate.ts'
import type { Operation, RequestBody } from '#shared/contracts/openapi/operation.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import type { Answer } from '#shared/ports/answer.ts'
import { requireStatus } from '#shared/usecases/workspaces/require-status.ts'
import type { ApiDeps } from './api-deps.ts'
import { parseJson } from './middleware/send.ts'
import type { RequestContext, Route } from './route.ts'

/** A validated request. `id` is present when the path has `{id}`. */
export interface Input<Path extends string, Query extends z.ZodType, Body extends z.ZodType>
  extends Pick<RequestContext, 'workspace' | 'mode' | 'actor' | 'from' | 'ids'> {
  readonly id: Path extends `${string}{id}${string}` ? string : undefined
  readonly query: z.output<Query>
  readonly body: z.output<Body>
}

/** A page of a list. */
export interface Page {
  readonly page: readonly object[]
  readonly meta: ListMeta
}

/** An operation as defined in its file: its public part, and one function that runs it. */
interface Definition<Path extends string, Query extends z.ZodObject, Body extends z.ZodType>
  extends Omit<Operation, 'path' | 'query' | 'body'> {
  readonly path: Path
  readonly query?: Query
  readonly body?: RequestBody & { readonly schema: Body; readonly testSchema?: NoInfer<Body> }
  /** Further faults of a body that its schema refuses, so that one response lists every offending field. */
  readonly bodyFaults?: (
    deps: ApiDeps,
    mode: Mode,
    fields: Readonly<Record<string, unknown>>,
  ) => Promise<readonly ErrorDetail[]>
  /** Does the work and resolves with the resource, or with a page of a list. Expected failures are thrown as `PaymeshError`. */
  readonly handle?: (deps: ApiDeps, input: Input<Path, Query, Body>) => Promise<object>
  /**
   * Replaces `handle` for an operation that stores its idempotency keys itself: `read` checks the workspace and validates the
   * request, and is called when no earlier response is found.
   */
  readonly respond?: (
    deps: ApiDeps,
    context: RequestContext,
    read: () => Promise<Input<Path, Query, Body>>,
  ) => Promise<Answer>
}

/**
 * Makes a route from a definition. The edge runs the fixed checks; then path, query and body are validated in this order, the
 * handler runs, and the result is put into the envelope. The OpenAPI document, the clients and the check of responses use the same definition.
 */
export function defineOperation<
  const Path extends string,
  Query extends z.ZodObject = typeof noQuery,
  Body extends z.ZodType = typeof emptyBody,
>(definition: Definition<Path, Query, Body>): Route {
  const { handle, respond, bodyFaults, ...operation } = definition
  const read = async (deps: ApiDeps, context: RequestContext): Promise<Input<Path, Query, Body>> => {
    const { workspace, mode, actor, from, ids } = context
    const id = operation.path.includes('{id}') ? validate(pathId, context.params).id : undefined
    const query = validate(operation.query ?? noQuery, context.query)
    const body = await readBody(deps, context)
    return { workspace, mode, actor, from, ids, id, query, body } as Input<Path, Query, Body>
  }
  const readBody = async (deps: ApiDeps, { mode, rawBody }: RequestContext): Promise<unknown> => {
    if (operation.method !== 'POST') return undefined
    const { schema, testSchema = schema } = operation.body ?? { schema: emptyBody }
    const value = parseJson(rawBody)
    if (bodyFaults === undefined) return validate(mode === 'test' ? testSchema : schema, value)
    return validateWith(schema, value, (fields) => bodyFaults(deps, mode, fields))
  }
  return {
    ...operation,
    keepsIdempotencyItself: respond !== undefined,
    handler: (deps) => async (context) => {
      if (respond !== undefined) {
        return respond(deps, context, async () => {
          if (operation.restricted) requireStatus(context.workspace, 'active')
          return read(deps, context)
        })
      }
      if (handle === undefined) throw new Error(`${operation.operationId} has no handler`)
      const result = await handle(deps, await read(deps, context))
      const { status, listMax } = operation.success
      const [data, meta] = listMax === null ? [result, null] : [(result as Page).page, (result as Page).meta]
      return { status, body: successEnvelope(JSON.stringify(data), meta, context.requestId), replayed: false }
    },
  }
}

/** A list without further pages. */
export const wholeList = (page: readonly object[]): Page => ({ page, meta: { next_cursor: null, has_more: false } })
