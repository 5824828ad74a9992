import type { RpcErrorObject } from '../../nodes/json-rpc.ts'
import type { FailureKind } from '../../nodes/rpc-failure.ts'
import { isTooMuch } from './range-limit.ts'

/** Permanent errors: wrong request, unknown method, wrong parameters (JSON-RPC 2.0); reverted call (3, go-ethereum). */
const REFUSED_CODES = new Set([-32_600, -32_601, -32_602, 3])

/** How providers refuse a method that the node or the plan lacks, under codes that otherwise mean "later". */
const NOT_OFFERED =
  /method.*(not (found|available|supported|exist|enabled|allowed|whitelisted)|unavailable|disabled)|unsupported method|(your|current|free) (plan|tier)|upgrade (your|to)/i

/**
 * How nodes report that they dropped the state of a block, all under general codes: go-ethereum by hash and by path, and its
 * forks; Erigon and Reth ("pruned"); Nethermind ("No state available"); Besu ("World state unavailable"). Providers sell it
 * separately: PublicNode ("Archive requests require a personal token", under the code of wrong parameters).
 */
const STATE_GONE =
  /missing trie node|historical state|state\b[^.]* (is not|un|not )\s?available|no state available|prun(ed|ing)|archive (requests?|nodes?|data|states?)\b/i

/** Classifies an error object of a JSON-RPC response. */
export function classify({ code, message }: RpcErrorObject): FailureKind {
  if (isTooMuch(message)) return 'split'
  if (STATE_GONE.test(message)) return 'pruned'
  return REFUSED_CODES.has(code) || NOT_OFFERED.test(message) ? 'refused' : 'retry'
}
