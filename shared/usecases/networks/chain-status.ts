import { type AssetId, MODES, type Mode, NETWORK_IDS, type NetworkId } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { FactComparison, RowAge } from '#shared/ports/chain-catalog.ts'
import type { ChainCommand } from '#shared/ports/chain-commands.ts'
import type { ChainCursor, ScanTrouble } from '#shared/ports/cursors.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { deadlinesPassUntil } from './known-until.ts'
import { type StuckNetwork, type StuckScene, stuckNetwork } from './stuck-network.ts'

/** Dependencies of reading the state of all scanners. */
export type ChainStatusDeps = Uses<'clock' | 'catalog' | 'cursors' | 'commands'>

/** State of one network's scanner in one mode; times are ages in milliseconds. */
export interface ChainStatus {
  readonly mode: Mode
  readonly network: NetworkId
  /** False when its node was removed from the configuration: it is not scanned any more. */
  readonly hasNode: boolean
  /** `stuck`: the cursor does not advance, and is not halted either; `stuck` below gives the cause. */
  readonly status: ChainCursor['status'] | 'never_scanned' | 'stuck'
  readonly height: number | null
  readonly headHeight: number | null
  /** Distance to the node's head as last read, whether or not the scan advances. */
  readonly lagBlocks: number | null
  /** Since the time of the last scanned block. */
  readonly blockAgeMs: Ms | null
  /** Since the node's last response. */
  readonly headAgeMs: Ms | null
  readonly finalizedHeight: number | null
  /** Since the last complete reading of the mempool; null where it cannot be read. */
  readonly mempoolAgeMs: Ms | null
  readonly lease: { readonly owner: string; readonly epoch: number; readonly expired: boolean } | null
  readonly haltReason: string | null
  /** Why the scanner waits although it is not halted: its nodes disagree, or payments wait for one that is silent or stands still. */
  readonly waitReason: string | null
  /** Why the network does not advance and how to fix it; null when it advances. Also set where `status` is `halted`. */
  readonly stuck: StuckNetwork | null
  /** The failure that prevents reading the next block, from its first second on; null when there is none. */
  readonly trouble: ScanTrouble | null
  /** Deadlines of its invoices take effect up to here, Unix milliseconds: scanned, or released by an operator. */
  readonly deadlinesUntil: Ms | null
  /** The current release: deadlines up to `through` take effect without a scan. Null when there is none, or the cursor moved since. */
  readonly released: { readonly through: Ms; readonly by: string } | null
  /** Blocks up to here are compared with stored payments after a rewind or resume. */
  readonly recheckThrough: number | null
  /** Tokens that its node has no contract of: invoices in them are refused. */
  readonly missingTokens: readonly AssetId[]
  /** What the network's row states beside what its scanner measured. */
  readonly facts: readonly FactComparison[]
  /** When that row was last compared with the world. */
  readonly row: RowAge
  readonly open: readonly ChainCommand[]
}

/** Every network that has a node or was ever scanned, in the order of the specification, live before test. */
export async function chainStatus(deps: ChainStatusDeps): Promise<readonly ChainStatus[]> {
  const [cursors, commands] = await Promise.all([deps.cursors.list(), deps.commands.listAllOpen()])
  const byId = new Map(cursors.map((cursor) => [cursor.id, cursor]))
  const now = deps.clock.now()
  return MODES.flatMap((mode) =>
    NETWORK_IDS.flatMap((network) => {
      const cursor = byId.get(`${mode}:${network}`) ?? null
      const hasNode = deps.catalog.hasNode(network, mode)
      if (cursor === null && !hasNode) return []
      const open = commands.filter((command) => command.mode === mode && command.network === network)
      const scene = { now, hasNode, blockTimeMs: deps.catalog.blockTimeMs(network, mode) }
      const facts = deps.catalog.compareFacts(network, cursor?.measured ?? null)
      return [
        {
          ...{ mode, network, hasNode, ...position(cursor, scene) },
          ...{ facts, row: deps.catalog.rowAge(network, now), open },
        },
      ]
    }),
  )
}

/** Position of one cursor; all null for a network that was never scanned. */
export function position(
  cursor: ChainCursor | null,
  scene: StuckScene,
): Omit<ChainStatus, 'mode' | 'network' | 'hasNode' | 'facts' | 'row' | 'open'> {
  const { now, blockTimeMs } = scene
  const lease = cursor?.lease ?? null
  const stuck = cursor === null ? null : stuckNetwork(cursor, scene)
  const released = cursor?.released ?? null
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
    released:
      released === null || released.hash !== cursor?.hash ? null : { through: released.through, by: released.by },
    recheckThrough: cursor?.recheckThrough ?? null,
    missingTokens: cursor?.missingTokens ?? [],
  }
}

function statusOf(cursor: ChainCursor | null, stuck: StuckNetwork | null): ChainStatus['status'] {
  if (cursor === null) return 'never_scanned'
  return stuck === null || cursor.status === 'halted' ? cursor.status : 'stuck'
}
