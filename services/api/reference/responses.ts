import type { ZodOpenApiResponseObject, ZodOpenApiResponsesObject } from 'zod-openapi'
import { ERROR_TABLE, type ErrorCode, type ErrorDetail } from '#shared/contracts/errors.ts'
import { errorEnvelopeSchema } from '#shared/contracts/http/envelope.ts'
import { EXAMPLE } from '#shared/contracts/openapi/examples/ids.ts'
import { errorCodes, type Operation } from '#shared/contracts/openapi/operation.ts'
import { successExample, successSchema } from '#shared/contracts/openapi/success-schema.ts'
import { headerRefs } from './headers.ts'

/** What `details` look like for codes that have some. */
const EXAMPLE_DETAILS: Partial<Readonly<Record<ErrorCode, readonly ErrorDetail[]>>> = {
  VALIDATION_ERROR: [{ path: 'limit', message: 'must be an integer from 1 to 100' }],
  RATES_UNAVAILABLE: [{ path: 'asset', message: 'There is no current price of BTC: too few sources agree on it.' }],
}

/** Responses that are the same for every operation. */
export const SHARED_RESPONSES = {
  Unauthenticated: errorResponse(['UNAUTHENTICATED'], headerRefs('WWW-Authenticate')),
  RateLimited: errorResponse(['RATE_LIMITED'], headerRefs('Retry-After')),
  InternalError: errorResponse(['INTERNAL_ERROR']),
  TooLarge: errorResponse(['VALIDATION_ERROR'], headerRefs(), 'The request body is larger than 256 KB.'),
  UnsupportedType: errorResponse(
    ['VALIDATION_ERROR'],
    headerRefs(),
    'The request body must be application/json in UTF-8, without a content encoding.',
  ),
} as const

const SHARED_BY_STATUS: Readonly<Record<number, keyof typeof SHARED_RESPONSES>> = {
  401: 'Unauthenticated',
  429: 'RateLimited',
  500: 'InternalError',
}

/** Every response of an operation by status, errors included, in ascending order. */
export function responsesOf(operation: Operation): ZodOpenApiResponsesObject {
  const { success } = operation
  const responses: Record<number, ZodOpenApiResponseObject | { $ref: string }> = {
    [success.status]: {
      description: success.description,
      headers: operation.method === 'POST' ? headerRefs('Idempotent-Replayed') : headerRefs(),
      content: {
        'application/json': {
          schema: successSchema(success),
          example: successExample(success, operation.query !== undefined && 'cursor' in operation.query.shape),
        },
      },
    },
  }
  // Also for operations without a body: a body that is sent anyway is read, because the idempotency key covers it.
  if (operation.method === 'POST') {
    responses[413] = sharedRef('TooLarge')
    responses[415] = sharedRef('UnsupportedType')
  }
  for (const [status, codes] of byStatus(errorCodes(operation))) {
    const shared = SHARED_BY_STATUS[status]
    const replayable = operation.method === 'POST' && codes.some((code) => code !== 'VALIDATION_ERROR')
    const headers =
      status === ERROR_TABLE.RATES_UNAVAILABLE.status
        ? headerRefs('Retry-After')
        : replayable && status !== 403 && status < 500
          ? headerRefs('Idempotent-Replayed')
          : headerRefs()
    responses[status] = shared === undefined ? errorResponse(codes, headers) : sharedRef(shared)
  }
  return responses as ZodOpenApiResponsesObject
}

/** The error codes of each status. */
export function byStatus(codes: Iterable<ErrorCode>): ReadonlyMap<number, readonly ErrorCode[]> {
  const grouped = new Map<number, ErrorCode[]>()
  for (const code of codes) {
    const { status } = ERROR_TABLE[code]
    grouped.set(status, [...(grouped.get(status) ?? []), code])
  }
  return new Map([...grouped].sort(([left], [right]) => left - right))
}

function sharedRef(name: keyof typeof SHARED_RESPONSES): { $ref: string } {
  return { $ref: `#/components/responses/${name}` }
}

function errorResponse(
  codes: readonly ErrorCode[],
  headers: ReturnType<typeof headerRefs> = headerRefs(),
  message?: string,
): ZodOpenApiResponseObject {
  const examples = Object.fromEntries(codes.map((code) => [code, { value: errorExample(code, message) }]))
  const meanings = codes.map((code) => `\`${code}\`: ${message ?? ERROR_TABLE[code].message}`)
  return {
    description: meanings.join(' '),
    headers,
    content: { 'application/json': { schema: errorEnvelopeSchema, examples } },
  }
}

function errorExample(code: ErrorCode, message: string = ERROR_TABLE[code].message): object {
  const details = message === ERROR_TABLE[code].message ? EXAMPLE_DETAILS[code] : undefined
  return {
    data: null,
    error: details === undefined ? { code, message } : { code, message, details },
    request_id: EXAMPLE.requestId,
  }
}
