import { type TRPC_ERROR_CODE_KEY, TRPCError } from '@trpc/server'
import { z } from 'zod'
import { type ErrorDetail, PaymeshError } from '#shared/contracts/errors.ts'
import { DETAILS_MAX } from '#shared/contracts/http/validate.ts'

/** An error with our own text. The transport's own texts quote the caller, who may have entered a secret as a name. */
export class Refusal extends TRPCError {}

/** Texts that replace those of the transport. */
const TRANSPORT_LABELS: Partial<Record<TRPC_ERROR_CODE_KEY, string>> = {
  NOT_FOUND: 'Procedure not found.',
  METHOD_NOT_SUPPORTED: 'This procedure requires another HTTP method.',
}

const CODES: Readonly<Record<number, TRPC_ERROR_CODE_KEY>> = {
  400: 'BAD_REQUEST',
  401: 'UNAUTHORIZED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  409: 'CONFLICT',
  429: 'TOO_MANY_REQUESTS',
  503: 'SERVICE_UNAVAILABLE',
}

/** The refusal with the status and text of one of our own errors. */
export function refusalOf(cause: PaymeshError): Refusal {
  return new Refusal({ code: CODES[cause.status] ?? 'INTERNAL_SERVER_ERROR', message: cause.message, cause })
}

/** Whether an existing procedure was reached and refused or failed. */
export function isOurs(error: TRPCError): boolean {
  const { code, cause } = error
  if (error instanceof Refusal || code === 'INTERNAL_SERVER_ERROR') return true
  return cause instanceof PaymeshError || cause instanceof z.ZodError
}

/** The text of an error for the person at the page; it quotes nothing that the caller sent. */
export function publicMessage(error: TRPCError): string {
  if (error.code === 'INTERNAL_SERVER_ERROR') return 'Something went wrong on our side.'
  if (error.cause instanceof z.ZodError) return 'The input is invalid.'
  return isOurs(error) ? error.message : (TRANSPORT_LABELS[error.code] ?? 'The request is malformed.')
}

/** At most `DETAILS_MAX` details of an error. An unknown field is reported by its place and not by its name, which the caller chose. */
export function detailsOf({ cause }: TRPCError): readonly ErrorDetail[] {
  if (cause instanceof PaymeshError) return cause.details ?? []
  if (!(cause instanceof z.ZodError)) return []
  return cause.issues.slice(0, DETAILS_MAX).map(({ code, path, message }) => ({
    path: path.join('.'),
    message: code === 'unrecognized_keys' ? 'has an unknown field' : message,
  }))
}

/** The refusal after which the page offers to set up an authenticator, and repeats the call. */
export const secondFactorNeeded = (message: string): PaymeshError => resolvable(message, 'secondFactor')

/** The refusal after which the page requests a code, and repeats the call. */
export const stepUpNeeded = (): PaymeshError => resolvable('Confirm this with an authenticator code.', 'stepUp')

function resolvable(message: string, path: 'stepUp' | 'secondFactor'): PaymeshError {
  return new PaymeshError('FORBIDDEN_SCOPE', { message, details: [{ path, message: 'needed' }] })
}
