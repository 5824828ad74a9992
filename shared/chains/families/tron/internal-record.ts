import type { Metrics } from '#shared/ports/runtime.ts'
import { RpcFailure } from '../../nodes/rpc-failure.ts'
import type { TronNode } from './api.ts'
import type { SuccessfulTransaction } from './check-block.ts'

/**
 * Successful contract calls without a single call inside of them, after which a node is taken for one that does not record
 * those. The main network has about a hundred calls in a block, and swaps among them.
 */
const BLIND_AFTER = 1_000

/** Knows which nodes record what contracts send inside of calls: java-tron does so with `vm.saveInternalTx` only. */
export interface InternalRecord {
  /** Throws `RpcFailure` for a node that records nothing while another one does: it is no substitute. */
  check(node: TronNode): void
  /** Learns from transactions that a node gave, and says in the metric what it knows. */
  note(node: TronNode, transactions: readonly SuccessfulTransaction[]): void
  /** Whether a node is known to record what contracts send: it did so once. */
  isSeeing(node: TronNode): boolean
}

/** Knows nothing yet: no node's API tells this setting. */
export function createInternalRecord(metrics: Metrics, labels: Readonly<Record<string, string>>): InternalRecord {
  const seeing = new Set<TronNode>()
  const callsWithout = new Map<TronNode, number>()
  const isBlind = (node: TronNode) => !seeing.has(node) && (callsWithout.get(node) ?? 0) >= BLIND_AFTER
  return {
    isSeeing: (node) => seeing.has(node),
    check(node) {
      if (seeing.size > 0 && isBlind(node)) {
        throw new RpcFailure('refused', `${node.host} records no internal transactions`)
      }
    },
    note(node, transactions) {
      if (transactions.some(({ info }) => info.internal_transactions.length > 0)) seeing.add(node)
      const calls = transactions.filter(({ contracts }) =>
        contracts.some(({ type }) => type === 'TriggerSmartContract'),
      )
      callsWithout.set(node, (callsWithout.get(node) ?? 0) + calls.length)
      if (seeing.has(node)) metrics.gauge('scanner_internal_transfers_seen', 1, labels)
      else if (isBlind(node)) metrics.gauge('scanner_internal_transfers_seen', 0, labels)
    },
  }
}
