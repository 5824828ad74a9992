import { NodeMismatch } from '#shared/ports/scanning.ts'
import { createJsonRpc, type RpcNodes, type RpcOptions } from '../../nodes/json-rpc.ts'
import { parseRangeMax } from './range-limit.ts'
import { classify } from './rpc-failure.ts'
import { headerSchema, heightSchema, quantitySchema } from './wire.ts'

/** An Ethereum JSON-RPC quantity. */
export function toQuantity(height: number): string {
  return `0x${height.toString(16)}`
}

/** JSON-RPC to Ethereum nodes, each of which must be on the chain `chainId`. Opens nothing until the first call. */
export function createRpc({
  chainId,
  ...options
}: Pick<RpcOptions, 'urls' | 'metrics' | 'labels'> & { readonly chainId: number }): RpcNodes {
  return createJsonRpc({
    ...options,
    classify,
    rangeMax: ({ message }) => parseRangeMax(message),
    headHeight: (call) => call('eth_blockNumber', [], heightSchema),
    async hashAt(call, height) {
      const header = await call('eth_getBlockByNumber', [toQuantity(height), false], headerSchema.nullable())
      return header?.hash ?? null
    },
    async identify(call, host) {
      const answered = Number(await call('eth_chainId', [], quantitySchema))
      if (answered !== chainId) {
        throw new NodeMismatch(`the node at ${host} is on chain ${answered}, not on ${chainId}`)
      }
    },
  })
}
