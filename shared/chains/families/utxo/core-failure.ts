import type { RpcErrorObject } from '../../nodes/json-rpc.ts'
import { nullWhere } from '../../nodes/null-where.ts'
import { type ErrorMeaning, isDenied } from '../../nodes/rpc-failure.ts'

/**
 * Core's words for an unknown object or height, under `RPC_INVALID_ADDRESS_OR_KEY` and `RPC_INVALID_PARAMETER`. The codes alone say nothing: Core has
 * them for other errors too, and a listed transaction that counts as gone would prove that nobody paid.
 */
const ABSENT_WORDS = /^no such |\bnot found\b|\bnot in mempool\b|\bout of range\b/i
const ABSENT_CODES = new Set([-5, -8])
/** `RPC_MISC_ERROR`, `RPC_TYPE_ERROR`, unknown method, wrong request (Bitcoin Core, `rpc/protocol.h`). */
const REFUSED_CODES = new Set([-1, -3, -32_601, -32_600])
/** Words with the code -1 for the contents of a block: dropped, or in download after a start from a snapshot (Bitcoin Core, `CheckBlockDataAvailability`). */
const PRUNED_WORDS = /\bpruned data\b/i
const UNLOADED_WORDS = /\bnot fully downloaded\b/i
/** Hosted nodes' codes for too many requests: EIP-1474 and the status, repeated. */
const RATE_CODES = new Set([-32_005, 429])

/** Classifies an error object of a node of the Bitcoin Core line. */
export function classify({ code, message }: RpcErrorObject): ErrorMeaning {
  if (PRUNED_WORDS.test(message)) return 'pruned'
  if (UNLOADED_WORDS.test(message)) return 'retry'
  if (ABSENT_CODES.has(code) && ABSENT_WORDS.test(message)) return 'absent'
  if (RATE_CODES.has(code)) return 'rate'
  return REFUSED_CODES.has(code) ? 'refused' : 'retry'
}

/** The result, or null when the node does not have the object. Throws every other failure. */
export const unlessAbsent = <T>(answer: Promise<T>): Promise<T | null> => nullWhere(answer, isDenied)
