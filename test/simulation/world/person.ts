import type { CursorDocument } from '#shared/db/scanning/cursor-model.ts'
import type { Prng } from '../kernel/prng.ts'
import { must } from '../kernel/violation.ts'
import type { SimChain } from './chain.ts'
import { callProcess } from './client.ts'
import { mustBeNamed } from './dropped.ts'
import type { Sim } from './sim.ts'

const POLL_EVERY_MS = 300_000
/** A block that fails for so long is looked at. */
const FAILING_MS = 60_000
/** After so long a network that confirms nothing has to say why: polls are rare where idle time is skipped. */
const SILENT_MAX_MS = 7_200_000

const cursorOf = (sim: Sim, { id }: SimChain): CursorDocument | undefined =>
  sim.store.collection('chain_cursors').find({ _id: id }, sim.store.now())[0] as unknown as CursorDocument | undefined

/**
 * What a person at the pages of an installation does about nodes in trouble: skips blocks that the pages call gone, lets deadlines pass when the
 * inbox has said what was paid in them, and takes away a node that the pages call old.
 */
export async function attend(sim: Sim, luck: Prng): Promise<void> {
  if (sim.trouble === null) return
  for (let turn = 0; ; turn += 1) {
    await sim.sleep(POLL_EVERY_MS, 'person looks')
    for (const chain of sim.chains.values()) await look(sim, chain, luck, turn)
  }
}

async function look(sim: Sim, chain: SimChain, luck: Prng, turn: number): Promise<void> {
  const cursor = cursorOf(sim, chain)
  if (cursor === undefined) return
  replaceOldNode(sim, chain, cursor)
  const { trouble, skipped } = cursor
  const operate = (name: string, input: object): Promise<unknown> =>
    callProcess(
      sim,
      'operators',
      name,
      { mode: chain.mode, network: chain.network, opId: `${name} ${turn}`, ...input },
      luck,
      name,
    )
  const isGone = trouble != null && /pruned|cleaned up|dropped|no longer has/.test(trouble.reason)
  if (isGone && sim.scheduler.now - trouble.firstAt.getTime() > FAILING_MS) {
    sim.fault('F19 skip', chain.id)
    await operate('skip', {})
  } else if (skipped != null) {
    mustBeNamed(sim, chain, cursor)
    const through = Math.floor(sim.scheduler.now) - 5_000
    sim.book.released.add(chain.id)
    if ((await operate('release', { through })) !== 'lost') sim.fault('F19 release', chain.id)
  }
}

/** L5: a network on which nothing can confirm says so, and names the node. */
function replaceOldNode(sim: Sim, chain: SimChain, cursor: CursorDocument): void {
  const { waitReason, headSeenAt, height, finalizedHeight } = cursor
  const { conditions } = chain
  const { stands } = conditions
  if (stands === null) return
  const isNamed = typeof waitReason === 'string' && waitReason.includes('node-1')
  if (isNamed) {
    sim.fault('F19 old node replaced', chain.id)
    conditions.stands = null
    return
  }
  const awaits = sim.store.documents('payments').some((row) => {
    const block = row['block'] as { readonly height: number } | null | undefined
    // One that has fewer blocks on top than it needs waits for those.
    const isBuried = typeof row['confirmAt'] === 'number' && row['confirmAt'] <= height
    return row['state'] === 'detected' && isBuried && block != null && block.height > (finalizedHeight ?? 0)
  })
  const isRead = sim.scheduler.now - headSeenAt.getTime() < POLL_EVERY_MS
  must(
    !awaits || !isRead || sim.scheduler.now - stands.since < SILENT_MAX_MS,
    'L5',
    () => `final blocks of ${chain.id} stand at ${finalizedHeight} since ${stands.since}, and nobody is told`,
  )
}
