import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { Payment } from '#shared/ports/payments.ts'
import { type ChainClient, NodeUnreliable } from '#shared/ports/scanning.ts'
import type { Uses } from '#shared/usecases/uses.ts'

/**
 * Requests from the node the blocks of due payments below the cursor's history. The cursor stores the hashes of its newest
 * blocks; a scanner paused for long may store a payment of an abandoned block below them, and no fence refuses an insert.
 * Orphans payments of another branch; `waiting` are the keys of those whose block the node does not return now.
 */
export async function checkForgottenBlocks(
  deps: Uses<'payments' | 'clock'>,
  scope: { readonly mode: Mode; readonly network: NetworkId; readonly epoch: number },
  {
    due,
    window,
    blockAt,
  }: {
    readonly due: readonly Payment[]
    readonly window: ReadonlyMap<number, string>
    readonly blockAt: ChainClient['blockAt']
  },
): Promise<{ readonly orphaned: readonly Payment[]; readonly waiting: readonly string[] }> {
  const forgotten = due.flatMap(({ key, block }) =>
    block === null || window.has(block.height) ? [] : [{ key, block }],
  )
  const orphaned: Payment[] = []
  const waiting: string[] = []
  for (const height of new Set(forgotten.map(({ block }) => block.height))) {
    const here = forgotten.filter(({ block }) => block.height === height)
    const hash = await hashAt(blockAt, height)
    if (hash === null) waiting.push(...here.map(({ key }) => key))
    else if (here.some(({ block }) => block.hash !== hash)) {
      const { mode, network, epoch } = scope
      const blocks = [{ height, hash }]
      orphaned.push(...(await deps.payments.orphanMissing({ mode, network, epoch, blocks, at: deps.clock.now() })))
    }
  }
  return { orphaned, waiting }
}

/** Null when the node does not return the block: an unclear response confirms nothing. */
async function hashAt(blockAt: ChainClient['blockAt'], height: number): Promise<string | null> {
  try {
    return (await blockAt(height))?.hash ?? null
  } catch (error) {
    if (!(error instanceof NodeUnreliable)) throw error
    return null
  }
}
