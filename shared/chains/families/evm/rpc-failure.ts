import type { RpcErrorObject } from '../../nodes/json-rpc.ts'
import type { ErrorMeaning } from '../../nodes/rpc-failure.ts'
import { ABOVE_HEAD, isTooMuch, isTooOften } from './range-limit.ts'

/** Wrong request, unknown method, wrong parameters (JSON-RPC 2.0); "method not supported" (-32004) and "version not supported" (-32006, EIP-1474). */
const REFUSED_CODES = new Set([-32_600, -32_601, -32_602, -32_004, -32_006])
/**
 * Codes beside the words of a revert, none of which says so alone: go-ethereum and its forks since 1.9.15 (3) and before, Besu, Anvil; OpenEthereum
 * and Nethermind (-32015); "transaction rejected" (EIP-1474). Gateways number their own failures from 1 as well.
 */
const REVERTED_CODES = new Set([3, -32_015, -32_000, -32_003, -32_603])
const REVERTED = /^(VM Exception[^:]*: |err(or)?: )?(execution reverted|reverted\b|VM execution error)/i

/** How they report that an answer took too long; no code stands for it alone. */
const LATE = /time(d)?[ -]?out|deadline exceeded/i
/** How they report a state that passes by itself. */
const LATER =
  /temporar|try again|please retry|retry later|overload|busy|capacity|service unavailable|bad gateway|currently healthy|syncing/i

/** How providers refuse a method that the node or the plan lacks, under codes that otherwise mean "later". */
const NOT_OFFERED =
  /method.*(not (found|available|supported|exist|enabled|allowed|whitelisted)|unavailable|disabled)|unsupported method|(your|current|free) (plan|tier)|upgrade (your|to)|unauthori[sz]ed|forbidden|api key|access denied/i

/**
 * How nodes report that they dropped the state of a block, all under general codes: go-ethereum by hash and by path, and its
 * forks; Erigon and Reth ("pruned"); Nethermind ("No state available"); Besu ("World state unavailable"). Providers sell it
 * separately: PublicNode ("Archive requests require a personal token", under the code of wrong parameters), Chainstack ("Archive, Debug
 * and Trace requests are not available").
 */
const STATE_GONE =
  /missing trie node|historical (state|data)|state\b[^.]* (is not|un|not )\s?available|no state available|prun(ed|ing)|\barchiv(e|al)\b/i

/**
 * Classifies an error object of a JSON-RPC response. The lists only decide how to wait and what to try next: a text that none of them
 * has is `unclear`, never a fact, and only a call that ran is an answer.
 */
export function classify({ code, message }: RpcErrorObject): ErrorMeaning {
  const hasReverted = REVERTED_CODES.has(code) && REVERTED.test(message)
  if (hasReverted) return 'reverted'
  if (isTooOften({ code, message })) return 'rate'
  if (isTooMuch(message)) return 'split'
  if (STATE_GONE.test(message)) return 'pruned'
  if (LATE.test(message)) return 'late'
  if (LATER.test(message) || ABOVE_HEAD.test(message)) return 'retry'
  if (NOT_OFFERED.test(message) || REFUSED_CODES.has(code)) return 'refused'
  return 'unclear'
}
