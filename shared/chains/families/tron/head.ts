import type { BlockRef } from '#shared/ports/scanned-blocks.ts'
import type { ChainClient } from '#shared/ports/scanning.ts'
import type { RpcPool } from '../../nodes/rpc-pool.ts'
import type { TronNode } from './api.ts'
import { checkHeader } from './check-block.ts'
import { type Block, type Header, headerSchema, newestSchema } from './wire.ts'

/** Time until a block has reached the nodes, milliseconds. */
const SPREAD_MS = 500
/** New blocks after which the solid one is requested again: it follows the head, and payments wait about a minute for it anyway. */
const SOLID_EVERY = 3

/**
 * Blocks above a solid one at least: solid is the ninth lowest of the newest blocks of 27 producers (java-tron 4.8.0, `DposService`). HTTP does not
 * tie an answer to its request, and the newest solid block looks like the newest block: without this bound one could be taken for the other.
 */
const SOLID_DEPTH = 18

/** How much quicker than its row a network is followed at most. */
const QUICKER_MAX = 20

type Head = Awaited<ReturnType<ChainClient['head']>>

interface KnownHead {
  readonly height: number
  readonly hash: string
  readonly time: number
  /** Head at which the solid block was requested. */
  readonly solidAt: number
}

/** The newest block, requested no more often than blocks are made. */
export interface HeadReader {
  head(): Promise<Head>
  /** The newest block with its transactions if this node returned it; null otherwise. */
  newestOf(node: TronNode): Block | null
}

/**
 * Reads heads. Producers make blocks at fixed times, `blockTimeMs` apart, so that nothing is requested before the next one is
 * due; 0 requests every time. Where heads show that blocks come more often, up to twenty times, it follows them. A wrong clock delays a head by one
 * block at most.
 */
export function createHeadReader(
  pool: RpcPool<TronNode>,
  blockTimeMs: number,
  now: () => number = Date.now,
): HeadReader {
  let newest: { readonly node: TronNode; readonly block: Block | Header } | null = null
  let known: KnownHead | null = null
  let everyMs = blockTimeMs

  function isTooEarly(time: number): boolean {
    const age = now() - time
    return blockTimeMs > 0 && age >= 0 && age < everyMs + SPREAD_MS
  }

  const headOf = ({ height, hash }: KnownHead): Head => {
    const solid = pool.final.agreed()
    const solidMax = blockTimeMs > 0 ? Math.max(0, height - SOLID_DEPTH) : height
    return { height, hash, finalizedHeight: solid && Math.min(solid, solidMax) }
  }

  return {
    async head() {
      if (known !== null && isTooEarly(known.time)) return headOf(known)
      return pool.use(async (node) => {
        const block = await node.call('wallet/getnowblock', {}, newestSchema)
        const { height, hash, time } = refOf(block)
        pool.noteHead(node, height)
        newest = { node, block }
        if (known?.hash === hash) return headOf(known)
        const isDue =
          known === null || blockTimeMs === 0 || height >= known.solidAt + SOLID_EVERY || height < known.height
        // The back ends of one URL are blocks apart: a solid block above this head is no contradiction, and counts up to the head.
        if (isDue) await pool.final.update(node, readSolid)
        if (known !== null && height > known.height) {
          const seenMs = (time - known.time) / (height - known.height)
          everyMs = Math.min(blockTimeMs, Math.max(blockTimeMs / QUICKER_MAX, seenMs))
        }
        known = { height, hash, time, solidAt: isDue ? height : (known?.solidAt ?? height) }
        return headOf(known)
      })
    },
    newestOf: (node) => (newest?.node === node && 'transactions' in newest.block ? newest.block : null),
  }
}

/** Throws `NodeUnreliable` when id and number of a block disagree. */
export function refOf(header: Header): BlockRef {
  const { number, parentHash, timestamp } = header.block_header.raw_data
  checkHeader(header, number)
  return { height: number, hash: header.blockID, parentHash, time: timestamp }
}

async function readSolid(node: TronNode): Promise<number> {
  return refOf(await node.call('walletsolidity/getnowblock', {}, headerSchema)).height
}
