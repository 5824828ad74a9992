/** Duration of each phase of one request, in milliseconds; null for a phase that did not happen (a reused connection) or was not reached. */
export interface HttpPhases {
  readonly dnsMs: number | null
  readonly connectMs: number | null
  readonly tlsMs: number | null
  /** From the request on the wire to the first header of the response. */
  readonly firstByteMs: number | null
}

/**
 * Error code for a missing or unusable response. `timeout` is the one total deadline; `blocked_address` means that the
 * guard at connect refused, so nothing was sent.
 */
export type HttpFault =
  | 'bad_url'
  | 'blocked_address'
  | 'dns'
  | 'refused'
  | 'unreachable'
  | 'reset'
  | 'tls'
  | 'timeout'
  | 'too_large'
  | 'bad_answer'
  | 'stopped'
  | 'network'

export interface HttpPost {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Sent unchanged. */
  readonly body: Uint8Array
  /** Total deadline: name look-up, connect, TLS, headers and body together. */
  readonly timeoutMs: number
  /** Reading stops here and the connection is dropped; the part read is the response. */
  readonly maxResponseBytes: number
  /** Whether `http://localhost:<port>` is acceptable for this request. */
  readonly allowLocalhost: boolean
}

export type HttpResult =
  | {
      readonly outcome: 'answered'
      readonly status: number
      /** At most `maxResponseBytes`, decoded as UTF-8 with replacement characters. */
      readonly body: string
      readonly ip: string | null
      readonly phases: HttpPhases
      readonly durationMs: number
    }
  | {
      readonly outcome: 'failed'
      readonly error: HttpFault
      readonly ip: string | null
      readonly phases: HttpPhases
      readonly durationMs: number
    }

/** Requests to addresses chosen by merchants. Every call is guarded; redirects are returned as responses, never followed. */
export interface HttpOut {
  /** Never throws: every failure is a `failed` result. */
  post(request: HttpPost): Promise<HttpResult>
}
