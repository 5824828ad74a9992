import { beforeEach } from 'vitest'
import type { PoolNode } from '#shared/chains/nodes/pool-node.ts'
import { RpcFailure } from '#shared/chains/nodes/rpc-failure.ts'
import { createRpcPool } from '#shared/chains/nodes/rpc-pool.ts'
import type { Metrics } from '#shared/ports/runtime.ts'
import { NodeMismatch, type SeenTransaction } from '#shared/ports/scanning.ts'

/** A node of a pool that says what a test wants. Its block at a height has the hash `<fork>-<height>`. */
export interface FakePoolNode extends PoolNode {
  head: number
  chain: 'ours' | 'other' | 'silent'
  /** Branch that its blocks belong to. */
  fork: string
  requests: number
  /** Ids of transactions that it does not show. */
  denied: readonly string[]
}

/** Fake nodes under a clock that stands still; both start again with each test. */
export function useFakeNodes() {
  const clock = { time: 0 }
  const gauges = new Map<string, number>()
  const counts = new Map<string, number>()
  beforeEach(() => {
    clock.time = 0
    gauges.clear()
    counts.clear()
  })
  const metrics: Metrics = {
    count(name, labels) {
      const key = `${name} ${labels?.['provider']}`
      counts.set(key, (counts.get(key) ?? 0) + 1)
    },
    gauge: (name, value, labels) => gauges.set(`${name} ${labels?.['provider']}`, value),
    observe: () => {},
  }
  return {
    clock,
    /** Values by `<name> <provider>`. */
    gauges,
    counts,
    fake,
    poolOf: (...nodes: FakePoolNode[]) => createRpcPool({ nodes, metrics, labels: {}, now: () => clock.time }),
    /** Work that gives the node's name. */
    async name(node: FakePoolNode) {
      node.requests += 1
      return node.host
    },
    /** The question about transactions that `doubted` puts to nodes. */
    async deny(node: FakePoolNode, transactions: readonly SeenTransaction[]) {
      node.requests += 1
      return transactions.flatMap(({ txHash }) => (node.denied.includes(txHash) ? [txHash] : []))
    },
  }
}

function fake(host: string, change: Partial<FakePoolNode> = {}): FakePoolNode {
  const node: FakePoolNode = {
    host,
    head: 100,
    chain: 'ours',
    fork: 'main',
    requests: 0,
    denied: [],
    latencyMs: 10,
    async identify() {
      if (node.chain === 'other') throw new NodeMismatch(`${host} is on another chain`)
      if (node.chain === 'silent') throw new RpcFailure('retry', `${host} is silent`)
    },
    headHeight: async () => node.head,
    hashAt: async (height) => (height > node.head ? null : `${node.fork}-${height}`),
    close: async () => {},
    ...change,
  }
  return node
}
