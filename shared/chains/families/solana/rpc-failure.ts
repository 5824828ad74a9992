import type { RpcErrorObject } from '../../nodes/json-rpc.ts'
import type { ErrorMeaning } from '../../nodes/rpc-failure.ts'

/**
 * Slots that were skipped (-32007, -32009), or whose block the node does not have yet (-32004, -32014). Providers use the same range of codes for
 * refusals (QuickNode: -32007 for its rate limit): an answer names the slot, as Agave does ("Slot 7 was skipped, or missing ...").
 */
const ABSENT_WORDS = /\bslot \d/i
const ABSENT_CODES = new Set([-32_004, -32_007, -32_009, -32_014])
/** Words of a rate limit under another code. */
const RATE_WORDS = /\blimit|too many|rate/i
/** The block is below the first one that the node keeps (`BlockCleanedUp`, -32001). Gateways have the same code for "resource not found" (EIP-1474). */
const PRUNED_WORDS = /\bcleaned up\b/i
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
export function classify({ code, message }: RpcErrorObject): ErrorMeaning {
  if (ABSENT_CODES.has(code)) {
    if (RATE_WORDS.test(message)) return 'rate'
    return ABSENT_WORDS.test(message) ? 'absent' : 'unclear'
  }
  if (RATE_CODES.has(code)) return 'rate'
  if (PRUNED_WORDS.test(message)) return 'pruned'
  return REFUSED_CODES.has(code) ? 'refused' : 'retry'
}

/** Meaning of an error code for the operator of the installation; null where the code is clear. */
export function explain(code: number): string | null {
  return EXPLANATIONS.get(code) ?? null
}
