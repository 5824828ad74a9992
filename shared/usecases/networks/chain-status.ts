import type { ChainStatus } from '#shared/contracts/chain-status.ts'
import { EVERY_NETWORK } from '#shared/domain/enumerations.ts'
import type { ChainCursor } from '#shared/ports/cursors.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { deadlinesPassUntil, releasedUntil } from './known-until.ts'
import { type StuckScene, stuckNetwork } from './stuck-network.ts'

/** Dependencies of reading the state of all scanners. */
export type ChainStatusDeps = Uses<'clock' | 'catalog' | 'cursors' | 'commands'>

/** Every network that has a node or was ever scanned, in the order of the specification, live before test. */
export async function chainStatus(deps: ChainStatusDeps): Promise<readonly ChainStatus[]> {
  const [cursors, commands] = await Promise.all([deps.cursors.list(), deps.commands.listAllOpen()])
  const byId = new Map(cursors.map((cursor) => [cursor.id, cursor]))
  const now = deps.clock.now()
  return EVERY_NETWORK.flatMap(({ mode, network }) => {
    const cursor = byId.get(`${mode}:${network}`) ?? null
    const hasNode = deps.catalog.hasNode(network, mode)
    if (cursor === null && !hasNode) return []
    const open = commands.filter((command) => command.mode === mode && command.network === network)
    const scene = { now, hasNode, blockTimeMs: deps.catalog.blockTimeMs(network, mode) }
    const facts = deps.catalog.compareFacts(network, cursor?.measured ?? null)
    const row = deps.catalog.rowAge(network, now)
    return [{ mode, network, hasNode, ...position(cursor, scene), facts, row, open }]
  })
}

/** Position of one cursor; all null for a network that was never scanned. */
export function position(
  cursor: ChainCursor | null,
  scene: StuckScene,
): Omit<ChainStatus, 'mode' | 'network' | 'hasNode' | 'facts' | 'row' | 'open'> {
  const { now, blockTimeMs } = scene
  const lease = cursor?.lease ?? null
  const stuck = cursor === null ? null : stuckNetwork(cursor, scene)
  const { released = null } = cursor !== null && releasedUntil(cursor, blockTimeMs) !== null ? cursor : {}
  return {
    status: statusOf(cursor, stuck),
    height: cursor?.height ?? null,
    headHeight: cursor?.headHeight ?? null,
    lagBlocks: cursor === null ? null : Math.max(0, cursor.headHeight - cursor.height),
    blockAgeMs: cursor === null ? null : now - cursor.time,
    headAgeMs: cursor === null ? null : now - cursor.headSeenAt,
    finalizedHeight: cursor?.finalizedHeight ?? null,
    mempoolAgeMs: cursor?.mempoolAt === undefined ? null : now - cursor.mempoolAt,
    lease: lease === null ? null : { owner: lease.owner, epoch: lease.epoch, expired: lease.until <= now },
    haltReason: cursor?.haltReason ?? null,
    waitReason: cursor?.waitReason ?? null,
    stuck,
    trouble: cursor?.trouble ?? null,
    deadlinesUntil: cursor === null ? null : Math.min(now, deadlinesPassUntil(cursor, blockTimeMs)),
    released: released === null ? null : { through: released.through, by: released.by },
    recheckThrough: cursor?.recheckThrough ?? null,
    missingTokens: [...(cursor?.missingTokens ?? [])],
  }
}

function statusOf(cursor: ChainCursor | null, stuck: ChainStatus['stuck']): ChainStatus['status'] {
  if (cursor === null) return 'never_scanned'
  return stuck === null || cursor.status === 'halted' ? cursor.status : 'stuck'
}
