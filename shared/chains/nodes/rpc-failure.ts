import { NodeUnreliable } from '#shared/ports/scanning.ts'

/**
 * What to do about a failed call: ask again later, ask for less, or mend the configuration. `absent` is a sound answer: the
 * node does not have what was asked for. `pruned`: it had it once, and an archive still has.
 */
export type FailureKind = 'retry' | 'split' | 'refused' | 'absent' | 'pruned'

/** What a failure says besides its kind. */
export interface FailureDetails {
  readonly cause?: unknown
  /** The node asked not to be called for this time, milliseconds. */
  readonly retryAfterMs?: number | null
  /** Most blocks that the node says one request may span. */
  readonly rangeMax?: number | null
  /** The call that failed and the host that was asked. */
  readonly call?: { readonly method: string; readonly host: string }
  /** RPC method or path that failed, where `call` is not given. */
  readonly method?: string
}

/** A call to a node that gave no usable answer. The message names method and host, never the path or query of a URL. */
export class RpcFailure extends NodeUnreliable {
  readonly kind: FailureKind
  readonly retryAfterMs: number | null
  readonly rangeMax: number | null
  override readonly call: { readonly method: string; readonly host: string } | null
  /** RPC method or path that failed, as the node spells it; null where no single call failed. */
  readonly method: string | null

  constructor(kind: FailureKind, message: string, details: FailureDetails = {}) {
    const { cause, retryAfterMs, rangeMax, call, method } = details
    super(message, cause === undefined ? undefined : { cause })
    this.kind = kind
    this.retryAfterMs = retryAfterMs ?? null
    this.rangeMax = rangeMax ?? null
    this.call = call ?? null
    this.method = call?.method ?? method ?? null
  }
}
