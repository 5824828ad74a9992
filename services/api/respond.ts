import { type ListMeta, successEnvelope } from '#shared/contracts/http/envelope.ts'
import type { Answer } from '#shared/usecases/ports/answer.ts'
import type { RequestContext } from './route.ts'

/** A success with one resource. */
export function respond(context: RequestContext, status: 200 | 201, resource: object): Answer {
  return { status, body: successEnvelope(JSON.stringify(resource), null, context.requestId), replayed: false }
}

/** A success with a page of resources. */
export function respondList(context: RequestContext, resources: readonly object[], meta: ListMeta): Answer {
  return { status: 200, body: successEnvelope(JSON.stringify(resources), meta, context.requestId), replayed: false }
}
