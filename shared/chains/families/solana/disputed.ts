import type { SeenTransaction } from '#shared/ports/scanning.ts'
import type { RpcClient } from '../../nodes/json-rpc.ts'
import { mapConcurrently } from '../../nodes/map-concurrently.ts'
import { onlyReceiver, showsTransfer } from '../../nodes/same-transfer.ts'
import { type ExtractOptions, transfersOf } from './extract.ts'
import { placedTransactionSchema, statusesSchema } from './wire.ts'

/** Most signatures in one request (Agave, `MAX_GET_SIGNATURE_STATUSES_QUERY_ITEMS`). */
const STATUSES_MAX = 256

/** Transactions requested at the same time. */
const CONCURRENCY = 4
/** Request options of one transaction: version 1 at most, as for blocks. */
export const TRANSACTION_OPTIONS = {
  commitment: 'confirmed',
  encoding: 'jsonParsed',
  maxSupportedTransactionVersion: 1,
}

/** How one node is queried. */
export interface DisputeScope {
  readonly call: RpcClient['call']
  readonly extract: ExtractOptions
  /** The node's own hash of a slot's block; null skips block hashes where they mean nothing. */
  readonly hashAt: ((slot: number) => Promise<string | null>) | null
}

/**
 * Ids of those transactions of one slot that a node does not show as finalized and successful in it, or whose
 * balances there do not match the gain that was seen. Throws `NodeUnreliable` when the node contradicts itself.
 */
export async function findDisputed(
  { call, extract, hashAt }: DisputeScope,
  transactions: readonly SeenTransaction[],
): Promise<ReadonlySet<string>> {
  const disputed = new Set<string>()
  for (let from = 0; from < transactions.length; from += STATUSES_MAX) {
    const some = transactions.slice(from, from + STATUSES_MAX)
    const question = [some.map(({ txHash }) => txHash), { searchTransactionHistory: true }]
    const { value } = await call('getSignatureStatuses', question, statusesSchema)
    for (const [index, { txHash, height }] of some.entries()) {
      const status = value[index]
      const shown = status?.slot === height && status.err === null && status.confirmationStatus === 'finalized'
      if (!shown) disputed.add(txHash)
    }
  }
  const found = transactions.filter(({ txHash }) => !disputed.has(txHash))
  await mapConcurrently(found, CONCURRENCY, async (seen) => {
    if (!(await showsGain(call, extract, seen))) disputed.add(seen.txHash)
  })
  const [first] = found
  const hash = hashAt === null || first === undefined ? null : await hashAt(first.height)
  for (const { txHash, blockHash } of found) if (hashAt !== null && blockHash !== hash) disputed.add(txHash)
  return disputed
}

async function showsGain(
  call: RpcClient['call'],
  extract: ExtractOptions,
  { txHash, height, transfer }: SeenTransaction,
): Promise<boolean> {
  if (transfer === undefined) return true
  const shown = await call('getTransaction', [txHash, TRANSACTION_OPTIONS], placedTransactionSchema.nullable())
  if (shown?.slot !== height || shown.entry.transaction.signatures[0] !== txHash) return false
  return showsTransfer(transfersOf(extract, [shown.entry], onlyReceiver(transfer)), transfer)
}
