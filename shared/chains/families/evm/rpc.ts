import { NodeMismatch } from '#shared/ports/scanning.ts'
import { createJsonRpc, type RpcNode, type RpcOptions } from '../../nodes/json-rpc.ts'
import type { RpcPool } from '../../nodes/rpc-pool.ts'
import { parseRangeMax } from './range-limit.ts'
import { classify } from './rpc-failure.ts'
import { type Header, headerSchema, heightSchema, quantitySchema } from './wire.ts'

/** An Ethereum JSON-RPC quantity. */
export function toQuantity(height: number): string {
  return `0x${height.toString(16)}`
}

/** The header of a block, by its height or its name; null when the node has none. */
export function readHeader(node: Pick<RpcNode, 'call'>, block: number | string): Promise<Header | null> {
  const name = typeof block === 'number' ? toQuantity(block) : block
  return node.call('eth_getBlockByNumber', [name, false], headerSchema.nullable())
}

/** JSON-RPC to Ethereum nodes, each of which must be on the chain `chainId`. Opens nothing until the first call. */
export function createRpc({
  chainId,
  ...options
}: Pick<RpcOptions, 'urls' | 'metrics' | 'labels'> & { readonly chainId: number }): RpcPool<RpcNode> {
  return createJsonRpc({
    ...options,
    classify,
    rangeMax: ({ message }) => parseRangeMax(message),
    headHeight: (call) => call('eth_blockNumber', [], heightSchema),
    hashAt: async (call, height) => (await readHeader({ call }, height))?.hash ?? null,
    async identify(call, host) {
      const answered = Number(await call('eth_chainId', [], quantitySchema))
      if (answered !== chainId) {
        throw new NodeMismatch(`the node at ${host} is on chain ${answered}, not on ${chainId}`)
      }
    },
  })
}
