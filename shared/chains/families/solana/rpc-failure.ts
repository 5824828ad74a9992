import type { ErrorMeaning } from '../../nodes/rpc-failure.ts'

/** Slots that were skipped (-32007, -32009), or whose block the node does not have yet (-32004, -32014). */
const ABSENT_CODES = new Set([-32_004, -32_007, -32_009, -32_014])
/** Wrong requests (JSON-RPC 2.0), unknown transaction version (-32015), no transaction history on this node (-32011). */
const REFUSED_CODES = new Set([-32_600, -32_601, -32_602, -32_011, -32_015])
/** Too many requests: the status, repeated (Solana Labs, QuickNode), and Helius. */
const RATE_CODES = new Set([429, -32_429])

const EXPLANATIONS: ReadonlyMap<number, string> = new Map([
  [-32_001, 'the node no longer has this block; catching up needs a node with more history'],
  [-32_005, 'the node is behind or unhealthy'],
  [-32_011, 'the node keeps no transaction history; scanning needs one that does'],
  [-32_015, 'the block holds a transaction of a version that is newer than this release of Paymesh: update it'],
  [-32_019, 'the long-term storage behind the node does not respond'],
])

/** Classifies an error object of a Solana node (codes of Agave's `rpc-client-api/src/custom_error.rs`). */
export function classify({ code }: { readonly code: number }): ErrorMeaning {
  if (ABSENT_CODES.has(code)) return 'absent'
  if (RATE_CODES.has(code)) return 'rate'
  return REFUSED_CODES.has(code) ? 'refused' : 'retry'
}

/** Meaning of an error code for the operator of the installation; null where the code is clear. */
export function explain(code: number): string | null {
  return EXPLANATIONS.get(code) ?? null
}
