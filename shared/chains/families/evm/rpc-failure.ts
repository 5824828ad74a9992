import type { FailureKind } from '../../rpc-failure.ts'

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
