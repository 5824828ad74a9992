/** Why a call failed, in words for a page. */
export interface Failure {
  /** Code of the transport, such as `NOT_FOUND`, `CONFLICT`, `UNAUTHORIZED`; `OFFLINE` without a response. */
  readonly code: string
  /** A sentence for people. */
  readonly message: string
  /** For support; null when the server was not reached. */
  readonly requestId: string | null
  /** Problems by field. */
  readonly fields: Readonly<Record<string, string>>
  /** The action requires an authenticator code. */
  readonly needsStepUp: boolean
  /** The person has no authenticator, and this requires one. */
  readonly needsAuthenticator: boolean
  /** A retry may help. */
  readonly transient: boolean
}

const TRANSIENT = new Set(['OFFLINE', 'TIMEOUT', 'SERVICE_UNAVAILABLE', 'BAD_GATEWAY', 'GATEWAY_TIMEOUT'])

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

/** What a page found out itself, in words for people: nothing was sent, and a retry does not help. */
export class PageFailure extends Error {
  readonly data = { code: 'NOT_FOUND' }
}

/** The server's own words for programs, by what a person reads instead. */
const GENERAL: Readonly<Record<string, string>> = {
  'The request is invalid.': 'Something in this form is not right. Correct it, then try again.',
  'The input is invalid.': 'Something in this form is not right. Correct it, then try again.',
  'The amount is below the minimum for this asset.': 'This amount is too small to be paid.',
  'Too many requests.': 'Too many requests. Wait a minute, then try again.',
}

/** The sentence of a failure for a page. */
export const shownMessage = ({ message }: Failure): string => GENERAL[message] ?? message

/** A fragment of the server, such as `must be greater than zero`, as a sentence. */
export function sentenceOf(text: string, end = '.'): string {
  const first = text.charAt(0).toUpperCase() + text.slice(1)
  return first === '' || /[.!?]$/.test(first) ? first : `${first}${end}`
}

/** True when the call ended because its answer did not come in time. */
export const isLate = (error: unknown): boolean => record(record(error)['cause'])['name'] === 'TimeoutError'

/** Converts any thrown error. Never throws. */
export function failureOf(error: unknown): Failure {
  const data = record(record(error)['data'])
  const code = typeof data['code'] === 'string' ? data['code'] : 'OFFLINE'
  const details = (Array.isArray(data['details']) ? data['details'] : []).map(record)
  const message = record(error)['message']
  return {
    code,
    message: code === 'OFFLINE' || typeof message !== 'string' ? 'The server did not respond.' : message,
    requestId: typeof data['requestId'] === 'string' ? data['requestId'] : null,
    fields: Object.fromEntries(
      details.map(({ path, message: text }) => [String(path ?? ''), sentenceOf(String(text ?? ''))]),
    ),
    needsStepUp: details.some(({ path }) => path === 'stepUp'),
    needsAuthenticator: details.some(({ path }) => path === 'secondFactor'),
    transient: TRANSIENT.has(code),
  }
}
