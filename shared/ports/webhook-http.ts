/** Where the time of one request went, in milliseconds; null for a phase that did not happen (a reused connection) or was not reached. */
export interface HttpPhases {
  readonly dnsMs: number | null
  readonly connectMs: number | null
  readonly tlsMs: number | null
  /** From the request on the wire to the first header of the answer. */
  readonly firstByteMs: number | null
}

/**
 * Machine word for why no usable answer came. `timeout` is the one total deadline; `blocked_address` means that the
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
  /** Sent exactly as it is. */
  readonly body: Uint8Array
  /** Total deadline: name look-up, connect, TLS, headers and body together. */
  readonly timeoutMs: number
  /** Reading stops here and the connection is dropped; what was read is the answer. */
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

/** Requests to addresses that strangers chose. Every call is guarded; redirects are answers, never followed. */
export interface HttpOut {
  /** Never throws: whatever goes wrong is a `failed` result. */
  post(request: HttpPost): Promise<HttpResult>
}
