import { NodeUnreliable } from '#shared/ports/scanning.ts'

/**
 * What to do about a failed call: retry later, request less, or fix the configuration. `absent` is a valid result: the
 * node does not have the object. `pruned`: it had it once, and an archive node still has it.
 */
export type FailureKind = 'retry' | 'split' | 'refused' | 'absent' | 'pruned'

/** Details of a failure besides its kind. */
export interface FailureDetails {
  readonly cause?: unknown
  /** Pause requested by the node, milliseconds. */
  readonly retryAfterMs?: number | null
  /** Most blocks that the node allows in one request. */
  readonly rangeMax?: number | null
  /** The failed call and its host. */
  readonly call?: { readonly method: string; readonly host: string }
  /** RPC method or path that failed, where `call` is not given. */
  readonly method?: string
}

/** A call to a node without a usable response. The message names method and host, never the path or query of a URL. */
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
