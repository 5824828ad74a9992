import { NodeBehind } from '#shared/ports/scanning.ts'
import type { CoreNode } from './core-rpc.ts'
import type { ChainProgress } from './progress-reads.ts'

/** Share of the chain above which a node that does not report its first download can have ended it. */
const VERIFIED_MIN = 0.99
/** Bitcoin Core's own limit (`-maxtipage`): with an older newest block a node counts as downloading. */
const TIP_AGE_MAX_MS = 86_400_000
/** Headers arrive moments before their blocks; a node that lacks more blocks than this is left for another one. */
const HEADERS_AHEAD_MAX = 2
/** A connection of this age has shown what the network has: mempools fill, and a newer block would have been announced. */
const SETTLED_MS = 600_000

/** Calls that show whether a node is current. */
export type StandingNode = Pick<CoreNode, 'progress' | 'header' | 'peerCount' | 'peers' | 'traffic'>

/** Settings. `isLocal`: a chain with one node and no peers, which is always current. A live chain has a block every day. */
interface StandingOptions {
  readonly isLocal: boolean
  readonly isLive: boolean
  /** Unix milliseconds. */
  readonly now?: () => number
}

/** Checks of one network's nodes. */
export interface StandingWatch {
  /** Throws `NodeBehind`, with how far the node is and this consequence, unless it has peers and lacks nothing that it reports. */
  requireChain(node: StandingNode, consequence?: string): Promise<void>
  /**
   * Why a mempool shows nothing about deadlines and missing transactions, although its transactions are real; null when it does.
   * Throws `NodeBehind` as `requireChain` does. What a node missed while it had no peers is not in its mempool, and not in
   * its blocks before it has synced: after such a time a new block, or a connection of ten minutes to a peer whose headers
   * reach the node's newest block, has to show that nothing is missing.
   *
   * | the node | shows nothing until |
   * |---|---|
   * | lists headers whose blocks it lacks | it has them |
   * | has only connections begun after the last look, or had none then | a new block, or ten minutes |
   * | is looked at for the first time, all its connections are younger than ten minutes, and its newest block is older | the same |
   *
   * A node or provider that does not list its peers is checked by their number; one that reports neither is assumed to have had some.
   */
  unproven(node: StandingNode, consequence: string): Promise<string | null>
}

interface Contact {
  /** By the node's clock, milliseconds. */
  readonly at: number
  readonly tip: string
  /** Newest block when the node was found without peers, until another one follows; null when it is proven. */
  readonly waitsAbove: string | null
}

/** Remembers one contact per node, from its first look on. */
export function createStandingWatch({ isLocal, isLive, now = Date.now }: StandingOptions): StandingWatch {
  const contacts = new WeakMap<StandingNode, Contact>()

  async function gapIn(node: StandingNode, { blocks, hash, headers, isDownloading, verified }: ChainProgress) {
    const far = `block ${blocks}${headers === null ? '' : ` of ${headers}`}${percentOf(verified)}`
    if (isDownloading ?? (verified !== null && verified < VERIFIED_MIN)) {
      return `the node still downloads its chain: ${far}`
    }
    if (headers !== null && headers - blocks > HEADERS_AHEAD_MAX) return `the node still reads blocks: ${far}`
    if (isDownloading !== null || !isLive) return null
    const { time } = await node.header({ height: blocks, hash })
    return now() - time > TIP_AGE_MAX_MS
      ? `the node is not current: its newest block, ${blocks}, is older than a day`
      : null
  }

  /** The block above which a new one is awaited; null when none is. */
  async function waitsAbove(node: StandingNode, progress: ChainProgress, at: number): Promise<string | null> {
    const before = contacts.get(node)
    const peers = await node.peers()
    const hasLasted = (peers ?? []).some(
      ({ since, headers }) => at - since >= SETTLED_MS && (before === undefined || headers >= progress.blocks),
    )
    if (before === undefined) {
      if (peers === null || hasLasted) return null
      const { time } = await node.header({ height: progress.blocks, hash: progress.hash })
      return now() - time <= SETTLED_MS ? null : progress.hash
    }
    const isSameContact = peers === null || peers.some(({ since }) => since <= before.at)
    const above = before.waitsAbove ?? (isSameContact ? null : before.tip)
    return above === null || hasLasted || progress.hash !== above ? null : above
  }

  /** Notes this contact. Null when nothing is missing that a view of the mempool needs. */
  async function missedBy(node: StandingNode, progress: ChainProgress, count: number | null): Promise<string | null> {
    const { blocks, headers, hash } = progress
    const at = (count === null ? null : await node.traffic())?.nowMs ?? now()
    if (count === 0) {
      contacts.set(node, { at, tip: hash, waitsAbove: contacts.get(node)?.waitsAbove ?? hash })
      return null
    }
    const above = count === null ? null : await waitsAbove(node, progress, at)
    contacts.set(node, { at, tip: hash, waitsAbove: above })
    if (headers !== null && headers > blocks) return `the node has not read block ${headers} yet`
    return above === null
      ? null
      : `the node had no peers; a block above ${blocks}, or ten minutes with a peer that has none, shows what it missed`
  }

  async function check(node: StandingNode, progress: ChainProgress, count: number | null, consequence?: string) {
    const gap = (await gapIn(node, progress)) ?? (count === 0 ? 'the node has no peers' : null)
    if (gap !== null) throw new NodeBehind(consequence === undefined ? gap : `${gap}; ${consequence}`)
  }

  return {
    async requireChain(node, consequence) {
      if (!isLocal) await check(node, await node.progress(), await node.peerCount(), consequence)
    },
    async unproven(node, consequence) {
      if (isLocal) return null
      const [progress, count] = [await node.progress(), await node.peerCount()]
      const missed = await missedBy(node, progress, count)
      await check(node, progress, count, consequence)
      return missed
    },
  }
}

function percentOf(verified: number | null): string {
  return verified === null ? '' : ` (${Math.floor(Math.min(1, Math.max(0, verified)) * 100)} %)`
}
