/** Why a call failed, in the words a page needs. */
export interface Failure {
  /** Code of the transport, such as `NOT_FOUND`, `CONFLICT`, `UNAUTHORIZED`; `OFFLINE` when no answer came. */
  readonly code: string
  /** A sentence for people. */
  readonly message: string
  /** For support; null when the server was not reached. */
  readonly requestId: string | null
  /** What is wrong with which field. */
  readonly fields: Readonly<Record<string, string>>
  /** The deed waits for a code of the authenticator. */
  readonly needsStepUp: boolean
  /** The person has no authenticator, and this needs one. */
  readonly needsAuthenticator: boolean
  /** Asking again may help. */
  readonly transient: boolean
}

const TRANSIENT = new Set(['OFFLINE', 'TIMEOUT', 'SERVICE_UNAVAILABLE', 'BAD_GATEWAY', 'GATEWAY_TIMEOUT'])

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

/** Reads whatever a call threw. Never throws. */
export function failureOf(error: unknown): Failure {
  const data = record(record(error)['data'])
  const code = typeof data['code'] === 'string' ? data['code'] : 'OFFLINE'
  const details = (Array.isArray(data['details']) ? data['details'] : []).map(record)
  const message = record(error)['message']
  return {
    code,
    message: code === 'OFFLINE' || typeof message !== 'string' ? 'No answer from the server.' : message,
    requestId: typeof data['requestId'] === 'string' ? data['requestId'] : null,
    fields: Object.fromEntries(details.map(({ path, message: text }) => [String(path ?? ''), String(text ?? '')])),
    needsStepUp: details.some(({ path }) => path === 'stepUp'),
    needsAuthenticator: details.some(({ path }) => path === 'secondFactor'),
    transient: TRANSIENT.has(code),
  }
}
