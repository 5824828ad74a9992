import type { Metrics } from '#shared/ports/runtime.ts'
import { RpcFailure } from '../../nodes/rpc-failure.ts'
import type { TronNode } from './api.ts'
import type { SuccessfulTransaction } from './check-block.ts'

/**
 * Successful contract calls without a single internal call after which a node is assumed not to record
 * them. The main network has about a hundred calls in a block, and swaps among them.
 */
const BLIND_AFTER = 1_000
/** How long a node is left out for that, milliseconds; its setting may have been changed, so it is then counted again. */
const BLIND_MS = 3_600_000

/** Records which nodes return internal transfers of contracts: java-tron does so only with `vm.saveInternalTx`. */
export interface InternalRecord {
  /** Throws `RpcFailure` for a node that records nothing while another one does: it is not a substitute. */
  check(node: TronNode): void
  /** Evaluates transactions that a node returned, and updates the metric. */
  note(node: TronNode, transactions: readonly SuccessfulTransaction[]): void
  /** Whether a node has returned internal transfers at least once. */
  isSeeing(node: TronNode): boolean
}

/** Starts empty: no node's API exposes this setting. */
export function createInternalRecord(
  metrics: Metrics,
  labels: Readonly<Record<string, string>>,
  now: () => number = () => performance.now(),
): InternalRecord {
  const seeing = new Set<TronNode>()
  const callsWithout = new Map<TronNode, number>()
  const blindSince = new Map<TronNode, number>()

  function isBlind(node: TronNode): boolean {
    if (seeing.has(node) || (callsWithout.get(node) ?? 0) < BLIND_AFTER) return false
    const since = blindSince.get(node) ?? now()
    blindSince.set(node, since)
    if (now() - since < BLIND_MS) return true
    blindSince.delete(node)
    callsWithout.delete(node)
    return false
  }

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
