import type { z } from 'zod'
import { ERROR_TABLE, type ErrorCode } from '#shared/contracts/errors.ts'
import { errorEnvelopeSchema } from '#shared/contracts/http/envelope-schema.ts'
import { errorCodes, type Operation } from '#shared/contracts/openapi/operation.ts'
import { successSchema } from '#shared/contracts/openapi/success-schema.ts'

/** Returns the fault of a response about to be sent, or null when it follows the API's schemas. */
export type AnswerCheck = (status: number, body: string) => Error | null

/** Transport faults have a separate status and use the nearest code: wrong method, body too large, wrong media type. */
const BORROWED: ReadonlyMap<number, ErrorCode> = new Map([
  [405, 'NOT_FOUND'],
  [413, 'VALIDATION_ERROR'],
  [415, 'VALIDATION_ERROR'],
])
const EVERY_CODE: ReadonlySet<ErrorCode> = new Set(Object.keys(ERROR_TABLE) as ErrorCode[])

/**
 * A check of every response of an operation, or of unrouted requests, against the schemas of the OpenAPI document:
 * status, body and error code. It parses the whole body, so it is for development and tests only.
 */
export function createAnswerCheck(operation: Operation | null): AnswerCheck {
  const codes = operation === null ? EVERY_CODE : errorCodes(operation)
  return (status, text) => {
    const body = parse(text)
    if (status >= 400) return wrongError(status, body, codes)
    if (operation === null) return null
    if (status !== operation.success.status) return new Error(`${operation.operationId} must not answer ${status}`)
    return mismatch(successSchema(operation.success), body)
  }
}

function wrongError(status: number, body: unknown, codes: ReadonlySet<ErrorCode>): Error | null {
  const result = errorEnvelopeSchema.safeParse(body)
  if (!result.success) return asError(result.error)
  const { code } = result.data.error
  if (!codes.has(code)) return new Error(`${code} is not declared for this operation`)
  if (status === ERROR_TABLE[code].status || BORROWED.get(status) === code) return null
  return new Error(`${code} must not be answered with ${status}`)
}

function mismatch(schema: z.ZodType, body: unknown): Error | null {
  const result = schema.safeParse(body)
  return result.success ? null : asError(result.error)
}

function asError({ issues }: z.ZodError): Error {
  const faults = issues.map(({ path, message }) => `${path.join('.')}: ${message}`)
  return new Error(`the answer breaks its schema: ${faults.join('; ')}`)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
