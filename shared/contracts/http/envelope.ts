import { z } from 'zod'
import { boundedText } from '#shared/contracts/bounded-text.ts'
import { ERROR_TABLE, type ErrorCode, type ErrorDetail } from '#shared/contracts/errors.ts'
import { DETAILS_MAX, PATH_LENGTH_MAX } from './validate.ts'
import { freeText, STORED_TEXT } from './wire-types.ts'

/** `meta` of list responses (specification §2). */
export interface ListMeta {
  readonly next_cursor: string | null
  readonly has_more: boolean
}

/** The text of a success envelope around an already serialised resource or list. */
export function successEnvelope(dataJson: string, meta: ListMeta | null, requestId: string): string {
  const metaJson = meta === null ? '' : `"meta":${JSON.stringify(meta)},`
  return `{"data":${dataJson},${metaJson}"error":null,"request_id":"${requestId}"}`
}

/** The text of an error envelope. */
export function errorEnvelope(
  error: { readonly code: string; readonly message: string; readonly details: readonly ErrorDetail[] | undefined },
  requestId: string,
): string {
  const { code, message, details } = error
  return JSON.stringify({
    data: null,
    error: details === undefined ? { code, message } : { code, message, details },
    request_id: requestId,
  })
}

const ERROR_CODES = Object.keys(ERROR_TABLE) as [ErrorCode, ...ErrorCode[]]

const requestId = boundedText(64)
  .regex(/^req_[0-9A-Za-z]+$/)
  .describe('Names this request in logs and in questions to support.')

const noError = z.null().describe('Null on success.')

const listMeta = z
  .strictObject({
    next_cursor: boundedText(200)
      .meta({ pattern: '^[!-~]+$' })
      .nullable()
      .describe('Pass it as `cursor` for the next page; null on the last one.'),
    has_more: z.boolean().describe('Whether there is a next page.'),
  })
  .meta({ id: 'ListMeta', description: 'Position in the list.' })

const errorDetail = z
  .strictObject({
    path: freeText(PATH_LENGTH_MAX).describe('Dotted path of the offending field: `customer.email`, `events.2`.'),
    message: freeText(1_000).describe('What is wrong.'),
  })
  .meta({ id: 'ErrorDetail', description: 'One offending field.' })

const errorBody = z
  .strictObject({
    code: z.enum(ERROR_CODES).describe('Machine-readable error code.'),
    message: boundedText(500).meta({ pattern: STORED_TEXT }).describe('Human-readable message. The text may change.'),
    details: z.array(errorDetail).max(DETAILS_MAX).describe('Offending fields of a `VALIDATION_ERROR`.').optional(),
  })
  .meta({ id: 'Error', description: 'The error.' })

/** The envelope of every error response. */
export const errorEnvelopeSchema = z
  .strictObject({ data: z.null(), error: errorBody, request_id: requestId })
  .meta({ id: 'ErrorResponse', description: 'The envelope of every error.' })

/** The envelope around one resource; `id` names it in the OpenAPI document. */
export function resourceEnvelopeSchema(id: string, resource: z.ZodType) {
  return z
    .strictObject({ data: resource, error: noError, request_id: requestId })
    .meta({ id, description: 'The envelope around one resource.' })
}

/** The envelope around a list of at most `max` resources; `id` names it in the OpenAPI document. */
export function listEnvelopeSchema(id: string, resource: z.ZodType, max: number) {
  return z
    .strictObject({ data: z.array(resource).max(max), meta: listMeta, error: noError, request_id: requestId })
    .meta({ id, description: 'The envelope around a page of a list.' })
}
