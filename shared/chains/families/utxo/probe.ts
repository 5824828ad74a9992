import type { ChainClient } from '#shared/ports/scanning.ts'
import { required, unserved } from '../../nodes/needs.ts'
import type { CoreRpc } from './core-rpc.ts'

const DAY_MS = 86_400_000

/** Requests of the node in use what looking for payments needs of a node of the Bitcoin family: its mempool, and a block of a day ago. */
export function createProbe(rpc: CoreRpc, blockTimeMs: number): NonNullable<ChainClient['probe']> {
  return () =>
    rpc.use(async (node) => {
      const { height } = await node.tip()
      const old = Math.max(0, height - Math.ceil(DAY_MS / blockTimeMs))
      return unserved([
        {
          need: 'the list of unconfirmed transactions',
          consequence: 'payments are seen with their first block only',
          request: () => node.mempoolIds(),
        },
        {
          need: 'a block of a day ago',
          consequence: 'after a pause of a day the network stands still until another node has its blocks',
          request: async () => node.block(required(await node.hashAt(old), `block ${old}`)),
        },
      ])
    })
}
