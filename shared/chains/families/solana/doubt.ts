import type { SeenTransaction } from '#shared/usecases/ports/scanning.ts'
import type { RpcClient } from '../../json-rpc.ts'
import { statusesSchema } from './wire.ts'

/** Most signatures that nodes take in one question (Agave, `MAX_GET_SIGNATURE_STATUSES_QUERY_ITEMS`). */
const STATUSES_MAX = 256

/**
 * Ids of those transactions that a node does not show as finalized and successful in the slot where they were seen.
 * `hashAt` is that node's; null leaves block hashes out where they mean nothing.
 */
export async function findDoubted(
  call: RpcClient['call'],
  transactions: readonly SeenTransaction[],
  hashAt: ((slot: number) => Promise<string | null>) | null,
): Promise<ReadonlySet<string>> {
  const doubted = new Set<string>()
  for (let from = 0; from < transactions.length; from += STATUSES_MAX) {
    const some = transactions.slice(from, from + STATUSES_MAX)
    const question = [some.map(({ txHash }) => txHash), { searchTransactionHistory: true }]
    const { value } = await call('getSignatureStatuses', question, statusesSchema)
    for (const [index, { txHash, height }] of some.entries()) {
      const status = value[index]
      const shown = status?.slot === height && status.err === null && status.confirmationStatus === 'finalized'
      if (!shown) doubted.add(txHash)
    }
  }
  if (hashAt === null) return doubted
  for (const height of new Set(transactions.map((entry) => entry.height))) {
    const hash = await hashAt(height)
    for (const entry of transactions) if (entry.height === height && entry.blockHash !== hash) doubted.add(entry.txHash)
  }
  return doubted
}
