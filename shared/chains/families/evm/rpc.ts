import { z } from 'zod'
import { NodeMismatch } from '#shared/usecases/ports/scanning.ts'
import { createJsonRpc, type RpcClient, type RpcOptions } from '../../json-rpc.ts'
import { classify } from './rpc-failure.ts'

const quantityText = z.string().regex(/^0x[0-9a-f]+$/i)

/** JSON-RPC to Ethereum nodes, each of which must be on the chain `chainId`. Opens nothing until the first call. */
export function createRpc({
  chainId,
  ...options
}: Omit<RpcOptions, 'identify' | 'classify'> & { readonly chainId: number }): RpcClient {
  return createJsonRpc({
    ...options,
    classify,
    async identify(call, host) {
      const answered = Number(await call('eth_chainId', [], quantityText))
      if (answered !== chainId) {
        throw new NodeMismatch(`the node at ${host} is on chain ${answered}, not on ${chainId}`)
      }
    },
  })
}
