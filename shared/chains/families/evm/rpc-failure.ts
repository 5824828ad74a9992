import { NodeUnreliable } from '#shared/usecases/ports/scanning.ts'

/** What to do about a failed call: ask again later, ask for less, or mend the configuration. */
export type FailureKind = 'retry' | 'split' | 'refused'

/** A call to a node that gave no usable answer. The message names method and host, never the path or query of a URL. */
export class RpcFailure extends NodeUnreliable {
  readonly kind: FailureKind

  constructor(kind: FailureKind, message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.kind = kind
  }
}

/** Codes that no repetition mends: wrong request, unknown method, wrong parameters (JSON-RPC 2.0); reverted call (3, go-ethereum). */
const REFUSED_CODES = new Set([-32_600, -32_601, -32_602, 3])

/**
 * Words by which providers say that a range holds too much. There is no code for it: -32005 (limit exceeded, EIP-1474)
 * also means "too many requests", and -32602 also comes with a range that is too wide.
 */
const TOO_MUCH =
  /block range|range (is )?too|too (large|many results|wide)|more than \d+ (results|logs)|exceeds? .*(range|limit of|max)|response size|result.* limit|logs? (limit|matched)|query timeout/i

/** Classes an error object of a JSON-RPC answer. */
export function classify(error: { readonly code: number; readonly message: string }): FailureKind {
  if (TOO_MUCH.test(error.message)) return 'split'
  return REFUSED_CODES.has(error.code) ? 'refused' : 'retry'
}
