import type { z } from 'zod'
import { listEnvelopeSchema, resourceEnvelopeSchema } from '#shared/contracts/http/envelope.ts'
import { EXAMPLE } from './examples/ids.ts'
import type { Success } from './operation.ts'

const schemas = new Map<string, z.ZodType>()

/** The schema of a whole success body. Operations with the same envelope name share one schema. */
export function successSchema({ envelope, resource, listMax }: Success): z.ZodType {
  const known = schemas.get(envelope)
  if (known !== undefined) return known
  const schema =
    listMax === null ? resourceEnvelopeSchema(envelope, resource) : listEnvelopeSchema(envelope, resource, listMax)
  schemas.set(envelope, schema)
  return schema
}

/** A whole success body as an example; lists without pages end with their first entry. */
export function successExample({ example, listMax }: Success, paged: boolean): object {
  const tail = { error: null, request_id: EXAMPLE.requestId }
  if (listMax === null) return { data: example, ...tail }
  const meta = paged ? { next_cursor: EXAMPLE.cursor, has_more: true } : { next_cursor: null, has_more: false }
  return { data: [example], meta, ...tail }
}
