import type { Shortcoming } from '#shared/ports/node-states.ts'
import type { ChainClient } from '#shared/ports/scanning.ts'
import { createWatchIndex } from './families/watch-index.ts'
import { required, unserved } from './nodes/needs.ts'

/** How long ago the block is that is read, milliseconds: longer than an upgrade of Paymesh or a restart of its machine takes. */
const PAUSE_MS = 600_000

/**
 * What the work needs of the nodes of a client and they do not serve: a block of ten minutes ago, its header and its contents, and what the
 * family needs besides. Throws `NodeUnreliable` when no node gives its head.
 */
export async function probeClient(client: ChainClient, blockTimeMs: number): Promise<readonly Shortcoming[]> {
  const { height: newest } = await client.head()
  const height = Math.max(0, newest - Math.ceil(PAUSE_MS / blockTimeMs))
  const consequence = 'after a pause of ten minutes, as for an upgrade, the network stands still'
  const common = await unserved([
    {
      need: 'the header of a block of ten minutes ago',
      consequence,
      async request() {
        const found = await client.blockAt(height)
        // Where heights have gaps, null is an answer.
        if (client.hasGaps !== true) required(found, `block ${height}`)
      },
    },
    {
      need: 'the contents of a block of ten minutes ago',
      consequence,
      request: () => client.scan(height, height, createWatchIndex()),
    },
  ])
  return [...common, ...((await client.probe?.()) ?? [])]
}
