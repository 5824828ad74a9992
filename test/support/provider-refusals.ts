import type { ErrorMeaning } from '#shared/chains/nodes/rpc-failure.ts'
import { EVM_REFUSALS, OURS, type RefusalRow, SEEN } from './evm-refusals.ts'

/** How one provider or node refuses a request, word by word. */
export interface ProviderRefusal {
  readonly provider: string
  readonly status: number
  /** Null where the body is no JSON-RPC: `text` is the body then. */
  readonly code: number | null
  readonly text: string
  /** Where it stands, a thread or a file of a public repository, and when that was written or last seen there; `OURS` for one that nobody sent yet. */
  readonly source: string
  readonly meaning: ErrorMeaning
}

const AGAVE = 'anza-xyz/agave rpc-client-api/src/custom_error.rs, 2025'

/** Solana nodes and providers. */
const SOLANA: readonly RefusalRow[] = [
  [
    'rate',
    'Solana Labs',
    429,
    429,
    'Too many requests for a specific RPC call',
    'henrytirla/Decentralized-Exchange-Trading-Scripts#2, 2024-01',
  ],
  ['rate', 'Helius', 200, -32_429, 'rate limited', SEEN],
  ['retry', 'Helius', 200, null, 'max usage reached', SEEN],
  ['retry', 'Agave', 200, -32_005, 'Node is behind by 42 slots', AGAVE],
  [
    'pruned',
    'Agave',
    200,
    -32_001,
    'Block 5 cleaned up, does not exist on node. First available block: 290000000',
    AGAVE,
  ],
  ['refused', 'Agave', 200, -32_011, 'Transaction history is not available from this node', AGAVE],
  [
    'refused',
    'Agave',
    200,
    -32_015,
    'Transaction version (0) is not supported by the requesting client. Please try the request again with the following configuration parameter: "maxSupportedTransactionVersion": 0',
    AGAVE,
  ],
  ['absent', 'Agave', 200, -32_004, 'Block not available for slot 7', AGAVE],
  ['absent', 'Agave', 200, -32_007, 'Slot 7 was skipped, or missing due to ledger jump to recent snapshot', AGAVE],
  ['absent', 'Agave', 200, -32_009, 'Slot 7 was skipped, or missing in long-term storage', AGAVE],
  ['absent', 'Agave', 200, -32_014, 'Block status not yet available for slot 7', AGAVE],
  ['retry', 'a gateway', 200, -32_001, 'Resource not found.', 'nblockchain/geewallet#213, 2023-04'],
  ['retry', 'alpamayo', 500, null, 'read error: end slot out of limit', 'lamports-dev/alpamayo#96, 2026-01'],
  ['rate', 'QuickNode', 200, -32_007, '15/second request limit reached (slot 7)', OURS],
  ['unclear', 'a gateway', 200, -32_009, 'Archive is being moved, come back tomorrow', OURS],
  ['rate', 'Solana Labs', 200, 429, 'Too many requests from your IP', OURS],
]

/** Bitcoin Core and its descendants. */
const CORE: readonly RefusalRow[] = [
  ['retry', 'Bitcoin Core', 500, -28, 'Loading block index…', 'bitcoin/bitcoin src/init.cpp, 2025'],
  [
    'pruned',
    'Bitcoin Core',
    500,
    -1,
    'Block not available (pruned data)',
    'bitcoin/bitcoin src/rpc/blockchain.cpp, 2025',
  ],
  ['refused', 'Bitcoin Core', 404, -32_601, 'Method not found', 'bitcoin/bitcoin src/rpc/server.cpp, 2025'],
  ['retry', 'Bitcoin Core', 503, null, 'Work queue depth exceeded', 'bitcoin/bitcoin src/httpserver.cpp, 2025'],
  ['refused', 'Bitcoin Core', 403, null, '', 'bitcoin/bitcoin src/httprpc.cpp (-rpcwhitelist), 2025'],
  [
    'absent',
    'Bitcoin Core',
    500,
    -5,
    'No such mempool or blockchain transaction. Use gettransaction for wallet transactions.',
    'bitcoin/bitcoin src/rpc/rawtransaction.cpp, 2025',
  ],
  ['absent', 'Bitcoin Core', 500, -8, 'Block height out of range', 'bitcoin/bitcoin src/rpc/blockchain.cpp, 2025'],
  ['absent', 'Bitcoin Core', 500, -5, 'Transaction not in mempool', 'bitcoin/bitcoin src/rpc/mempool.cpp, 2025'],
  ['absent', 'Bitcoin Core', 500, -5, 'Block not found', 'bitcoin/bitcoin src/rpc/blockchain.cpp, 2025'],
  [
    'retry',
    'Bitcoin Core',
    500,
    -8,
    'Scan already in progress, use action "abort" or "status"',
    'bitcoin/bitcoin src/rpc/blockchain.cpp, 2025',
  ],
  ['retry', 'a gateway', 200, -5, 'Daily allowance spent', OURS],
  ['retry', 'a gateway', 200, -8, 'Upstream unavailable', OURS],
  ['rate', 'a gateway', 200, -32_005, 'limit exceeded', OURS],
  ['rate', 'any', 429, null, 'Too Many Requests', 'RFC 6585, 2012-04'],
]

const JAVA_TRON = 'tronprotocol/documentation-en docs/api/http/index.md, 2026-07'

/** TRON nodes and gateways: whole bodies, as their HTTP API has no codes. */
const TRON: readonly RefusalRow[] = [
  [
    'rate',
    'TronGrid',
    429,
    null,
    '{"Error":"The key exceeds the frequency limit(15), and the query server is suspended for 30s"}',
    'developers.tron.network/reference/rate-limits, 2026',
  ],
  [
    'rate',
    'TronGrid',
    403,
    null,
    '{"Error":"Exceed the user daily usage (100000), the maximum query frequency is 1 time per second"}',
    'andelf/tronpy#148, 2025-01',
  ],
  [
    'rate',
    'TronGrid',
    403,
    null,
    '{"Error":"request rate exceeded the allowed_rps(10), and the query server is suspended for 5 s"}',
    'iexbase/tron-api#171, 2023-05',
  ],
  ['rate', 'TronGrid', 429, null, 'Request failed with status code 429', 'tronprotocol/wallet-cli#985, 2026-08'],
  [
    'rate',
    'java-tron',
    200,
    null,
    '{"Error":"class java.lang.IllegalAccessException : lack of computing resources"}',
    'tronprotocol/java-tron#6733, 2026-04',
  ],
  ['pruned', 'java-tron', 200, null, 'this API is closed because this node is a lite fullnode', JAVA_TRON],
  ['refused', 'java-tron', 404, null, '{"Error":"this API is unavailable due to config"}', JAVA_TRON],
  ['split', 'java-tron', 413, null, 'Payload Too Large', JAVA_TRON],
  ['retry', 'TronGrid', 502, null, '<html><h1>502 Bad Gateway</h1></html>', 'tronprotocol/tronweb#152, 2021-03'],
  ['refused', 'TronGrid', 403, null, '', 'andelf/tronpy#126, 2024-01'],
  ['rate', 'a gateway', 200, null, '{"jsonrpc":"2.0","error":{"code":-32005,"message":"limit exceeded"}}', OURS],
  ['unclear', 'a gateway', 200, null, '{"error":{"code":-32000,"message":"block not found"}}', OURS],
  ['unclear', 'a gateway', 200, null, '{"error":"invalid api key"}', OURS],
  ['refused', 'a gateway', 402, null, '{"error":"Upgrade your plan to use this method"}', OURS],
  [
    'rate',
    'a gateway',
    403,
    null,
    '{"error":"The total number of requests of the API key today exceeds the limit"}',
    OURS,
  ],
  ['retry', 'a gateway', 200, null, '{}', OURS],
  ['retry', 'a gateway', 200, null, '[]', OURS],
  ['retry', 'a gateway', 200, null, '{"message":"no Route matched with those values"}', OURS],
]

const read = (rows: readonly RefusalRow[]): readonly ProviderRefusal[] =>
  rows.map(([meaning, provider, status, code, text, source]) => ({ provider, status, code, text, source, meaning }))

/**
 * Texts, codes and statuses with which real providers and nodes refuse requests, collected in November 2026 from the public sources
 * named. A new one goes into this list first; its `meaning` is what a caller may do next, never a fact about the chain.
 */
export const PROVIDER_REFUSALS = {
  evm: read(EVM_REFUSALS),
  solana: read(SOLANA),
  core: read(CORE),
  tron: read(TRON),
}
