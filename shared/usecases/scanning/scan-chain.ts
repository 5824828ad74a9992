import type { AssetId } from '#shared/domain/enumerations.ts'
import type { ChainCursor } from '#shared/ports/cursors.ts'
import type { MempoolView, RawTransfer, ScannedBlock } from '#shared/ports/scanned-blocks.ts'
import {
  BlockUnreadable,
  type ChainClient,
  NodeMismatch,
  NodeUnreliable,
  type WatchIndex,
} from '#shared/ports/scanning.ts'
import { isRereading } from '#shared/usecases/networks/network-lag.ts'
import { healUnmatched } from '#shared/usecases/payments/unmatched-transfers.ts'
import { followPacks, followWatches, hydrateWatches } from '#shared/usecases/watches/watch-feed.ts'
import { createFailedStart } from './failed-start.ts'
import { placeOf } from './find-fork.ts'
import { pacedSource } from './paced-source.ts'
import { proveDeadlines } from './prove-deadlines.ts'
import { followCommands } from './scan-commands.ts'
import { acquireScanLease } from './scan-lease.ts'
import { adoptMode } from './scan-mode.ts'
import { restartChain } from './scan-reorg.ts'
import { LeaseLost, moveCursor, type ScanDeps, type ScanSession, type ScanSource } from './scan-session.ts'
import { confirmThroughCursor, scanTick } from './scan-tick.ts'
import { createTroubleRecord, scanFailure } from './scan-trouble.ts'
import { lookAround } from './thrifty-looks.ts'
import { thriftyTick } from './thrifty-tick.ts'

/** Pause of a scanner that waits for the lease. */
const STANDBY_MS = 2_000
/** One step requests many blocks from a node, and a first start reads every watch; a loop silent for longer has died. */
const SILENCE_MAX_MS = 300_000
const BACKOFF_MIN_MS = 500
const BACKOFF_MAX_MS = 5_000
/** A node on the wrong chain needs a person to fix it. */
const MISMATCH_PAUSE_MS = 10_000
/** How often what was packed is read. */
const PACKS_EVERY_MS = 60_000
/** A wake-up stands for a page that somebody watches for so long; pages repeat it. */
const ATTENTION_MS = 15_000
/** How long a scanner waits for addresses that were issued before the store went back in time. */
const ADDRESSES_BACK_MAX_MS = 60_000
const ADDRESSES_BACK_POLL_MS = 250
/** Blocks that a first start reads besides the new ones, so that it recognizes a fork when the newest ones are replaced. */
const LOOKBACK = 16
const DEVELOPMENT_LOOKBACK = 1_000

/** How often a node that lacks a token is asked for it again. */
const TOKENS_EVERY_MS = 60_000
const TOKENS_EVERY_DEVELOPMENT_MS = 2_000

/** A running scan of one network. */
export interface ChainScanner {
  /** Polls the node now instead of after the pause. */
  wake(): void
  /** Ends after the current step and releases the lease. */
  stop(): Promise<void>
}

/**
 * Scans one network in one mode until it is stopped. Any number of processes may do so at once: one holds the lease and
 * writes, the others stand by. A node that fails or returns wrong data is retried, with the cursor unchanged; a lost lease
 * drops this holder's cached state and starts over.
 */
export function startChainScanner(deps: ScanDeps, given: ScanSource): ChainScanner {
  const source = { ...given, client: checkedClient(given.client) }
  const pauses = createPauses(deps.clock)
  const logger = deps.logger.child({ network: source.network, mode: source.mode })
  const owner = deps.random.uuid()
  const troubles = createTroubleRecord()
  const failedStart = createFailedStart(deps, source)
  let backoffMs = BACKOFF_MIN_MS
  const pulse = deps.pulses?.start(`scan:${source.mode}-${source.network}`, SILENCE_MAX_MS)

  /** Logs the fault and waits before the next try. */
  async function recover(error: unknown): Promise<void> {
    const kind = scanFailure(error)
    deps.metrics.count('scanner_errors_total', { network: source.network, mode: source.mode, kind })
    if (kind === 'lease') {
      logger.warn({ err: error }, 'scanner was superseded')
      return
    }
    if (kind === 'node') logger.warn({ err: error }, 'the node returned no usable response')
    else logger.error({ err: error }, kind === 'mismatch' ? 'the node was rejected' : 'scanning failed')
    await pauses.pause(kind === 'mismatch' ? MISMATCH_PAUSE_MS : backoffMs)
    backoffMs = Math.min(backoffMs * 2, BACKOFF_MAX_MS)
  }

  async function runSession(session: ScanSession): Promise<void> {
    await troubles.during(session, () => prepare(session, pauses))
    const scope = { mode: source.mode, family: source.family, network: source.network }
    let packsReadAt = deps.clock.now()
    while (!pauses.stopped) {
      pulse?.beat()
      try {
        const moved = await troubles.during(session, async () => {
          await followWatches(deps, scope, session.index, session.lease.isHeld)
          if (deps.clock.now() - packsReadAt >= PACKS_EVERY_MS) {
            packsReadAt = deps.clock.now()
            await followPacks(deps, scope, session.index)
          }
          await lookForMissingTokens(session)
          return await tick(session, source)
        })
        // A requested rescan that fails does not hold up the cursor.
        const followed = await followCommands(session)
        backoffMs = BACKOFF_MIN_MS
        if (!moved && !followed) await pauses.pause(session.source.pollMs)
      } catch (error) {
        // A fault of the node is not a reason to release the lease and the filled index.
        if (!(error instanceof NodeUnreliable)) throw error
        if (!(await hasWayOut(session, error))) await recover(error)
      }
    }
  }

  async function run(): Promise<void> {
    while (!pauses.stopped) {
      pulse?.beat()
      try {
        const cursor = await failedStart.watch(() => openCursor(deps, source))
        const lease = await acquireScanLease(
          { cursors: deps.cursors, metrics: deps.metrics, logger },
          { ...source, owner },
        )
        if (lease === null) {
          await pauses.pause(STANDBY_MS)
          continue
        }
        logger.info({ epoch: lease.epoch, height: cursor.height }, 'scanner took the lease')
        try {
          const memory = { index: source.createIndex(), missingSince: new Map(), attention: pauses.attention, pulse }
          await runSession({ deps, source, lease, cursor, ...memory })
        } finally {
          await lease.release()
        }
      } catch (error) {
        await recover(error)
      }
    }
  }

  const running = run()
  return {
    wake: pauses.wake,
    async stop() {
      pulse?.end()
      pauses.stop()
      await running
    },
  }
}

/** Runs the requests that lead out of a block that cannot be read; false when there are none. */
async function hasWayOut(session: ScanSession, cause: NodeUnreliable): Promise<boolean> {
  if (!(cause instanceof BlockUnreadable)) return false
  try {
    return await followCommands(session)
  } catch (error) {
    if (!(error instanceof NodeUnreliable)) throw error
    return false
  }
}

/** One step at the pace that the chain has by now. */
function tick(session: ScanSession, source: ScanSource): Promise<boolean> {
  session.source = pacedSource(session.deps.catalog, source, session.cursor)
  return source.thrifty === undefined ? fullTick(session) : thriftyTick(session)
}

/**
 * A step of full scanning; false when there is nothing to do before the next poll. At the head another step at once would find a new block
 * only by chance: where unconfirmed transactions count, it reads those, which a block has just changed.
 */
async function fullTick(session: ScanSession): Promise<boolean> {
  const moved = await scanTick(session)
  const { source, head, cursor } = session
  // Payments above a cursor that was sent back may sum up blocks below it, which balances there would count again.
  if (isRereading(cursor)) return moved
  // Balances of blocks below those that nodes still have prove nothing.
  if (session.balancesUnread === true && cursor.height < (head?.height ?? 0)) return moved
  // Of blocks that passed without balances, or left by thrifty scanning before the setting changed.
  if (await proveDeadlines(session)) return true
  if (moved && (source.client.mempool !== undefined || cursor.height !== head?.height)) return true
  return source.looks !== undefined && (await lookAround(session, source.looks))
}

/**
 * A store that went back in time lacks addresses that payers were shown. They are derived again first: a block that is read before them would
 * not be read again for them. After a minute the blocks are read all the same, because the other addresses wait as well.
 */
async function untilAddressesAreBack(deps: ScanDeps, pauses: ReturnType<typeof createPauses>): Promise<void> {
  const until = deps.clock.now() + ADDRESSES_BACK_MAX_MS
  while (!pauses.stopped && ((await deps.marks.isStoreBehind()) || (await deps.wallets.isAnyUnderived()))) {
    if (deps.clock.now() >= until) {
      deps.logger.error({}, 'blocks are read although addresses are not derived yet')
      return
    }
    await pauses.pause(ADDRESSES_BACK_POLL_MS)
  }
}

/** Everything required before the first block of a session. */
async function prepare(session: ScanSession, pauses: ReturnType<typeof createPauses>): Promise<void> {
  const { deps, source } = session
  const { mode, family, network, client } = source
  const missing = await client.verify()
  await untilAddressesAreBack(deps, pauses)
  await hydrateWatches(deps, { mode, family, network }, session.index)
  await healUnmatched(deps, { mode, network })
  // Read again under the lease: the previous holder may have moved it since.
  const cursor = await deps.cursors.find(mode, network)
  if (cursor === null) throw new LeaseLost('the cursor is gone')
  session.cursor = cursor
  if ((await client.genesisHash()) !== cursor.genesisHash) {
    if (!source.development) throw new NodeMismatch('the node has another first block than the one scanned so far')
    await restartChain(session)
  }
  await noteMissingTokens(session, missing)
  await adoptMode(session)
  await confirmThroughCursor(session)
}

/**
 * The stored cursor. A first start begins shortly before the head of a node that has the whole chain: no address was issued before, so none
 * was paid. A node that still downloads would begin years back, at blocks that it may have dropped by then.
 */
async function openCursor({ cursors, clock }: ScanDeps, source: ScanSource): Promise<ChainCursor> {
  const { mode, network, client, development } = source
  const stored = await cursors.find(mode, network)
  if (stored !== null) return stored
  await client.verify()
  const head = await (client.currentHead ?? client.head)()
  const lookback = development ? DEVELOPMENT_LOOKBACK : LOOKBACK
  const lookedBack = await client.blockAt(Math.max(0, head.height - lookback))
  const block = lookedBack ?? (await client.blockAt(head.height))
  if (block === null) throw new NodeUnreliable('the node has no block at its head')
  // A reorganisation may go below the first block that is read: the newest one that no allowed one replaces is remembered too.
  const settled = Math.min(block.height, head.finalizedHeight ?? block.height - source.finalityDepth)
  const anchor = await placeOf(client, Math.max(0, settled))
  const remembered = anchor === null || anchor.height >= block.height ? [block] : [anchor, block]
  return cursors.create({
    id: `${mode}:${network}`,
    mode,
    network,
    height: block.height,
    hash: block.hash,
    time: block.time,
    window: remembered.map(({ height, hash }) => [height, hash] as const),
    headHeight: head.height,
    headSeenAt: clock.now(),
    advancedAt: clock.now(),
    finalizedHeight: head.finalizedHeight,
    status: 'catchup',
    haltReason: null,
    genesisHash: await client.genesisHash(),
    lease: null,
  })
}

/**
 * Stores which tokens the node lacks, so that no invoice is quoted in them; the network goes on with its other assets. Their
 * contracts stay part of what is scanned: a node that only seemed to lack one loses no payment.
 */
async function noteMissingTokens(session: ScanSession, missing: readonly AssetId[]): Promise<void> {
  const { cursor, deps, source } = session
  session.tokensLookedAt = deps.clock.now()
  const known = cursor.missingTokens ?? []
  if (known.length === missing.length && known.every((asset) => missing.includes(asset))) return
  const { mode, network } = source
  deps.logger.warn({ mode, network, missing }, 'the node lacks the contracts of tokens; they are refused')
  await moveCursor(session, { missingTokens: missing })
}

/** Asks again now and then while tokens are missing: they may be deployed, or another node may be in use. */
async function lookForMissingTokens(session: ScanSession): Promise<void> {
  const { cursor, deps, source, tokensLookedAt = 0 } = session
  if ((cursor.missingTokens ?? []).length === 0) return
  const everyMs = source.development ? TOKENS_EVERY_DEVELOPMENT_MS : TOKENS_EVERY_MS
  if (deps.clock.now() - tokensLookedAt < everyMs) return
  await noteMissingTokens(session, await source.client.verify())
}

/** Pauses that `wake` and `stop` end early; `attention` is until when somebody is assumed to watch. */
function createPauses(clock: ScanDeps['clock']) {
  const attention = { until: 0 }
  let end: (() => void) | null = null
  let woken = false
  let stopped = false
  const wake = () => {
    attention.until = clock.now() + ATTENTION_MS
    woken = true
    end?.()
  }
  return {
    get stopped() {
      return stopped
    },
    wake,
    attention,
    stop() {
      stopped = true
      end?.()
    },
    async pause(ms: number): Promise<void> {
      if (!woken && !stopped) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms)
          end = () => {
            clearTimeout(timer)
            resolve()
          }
        })
        end = null
      }
      woken = false
    },
  }
}

/**
 * The client with only transfers to watched addresses in its answers: where the index takes a stranger for a watch, the store decides before
 * anybody sees the transfer. Rejects when the store does not respond, so that the caller's cursor stays.
 */
function checkedClient(client: ChainClient): ChainClient {
  const scan: ChainClient['scan'] = async (from, to, watches, ...rest) =>
    checkBlocks(await client.scan(from, to, watches, ...rest), watches)
  const mempool = async (watches: WatchIndex, outpoints: ReadonlySet<string>): Promise<MempoolView> => {
    const view = await client.mempool?.(watches, outpoints)
    if (view === undefined) throw new TypeError('the client has no mempool')
    return { ...view, transfers: onlyWatched(view.transfers, await watchedAmong(view.transfers, watches)) }
  }
  return new Proxy(client, {
    get(target, name) {
      if (name === 'scan') return scan
      if (name === 'mempool') return target.mempool === undefined ? undefined : mempool
      return Reflect.get(target, name)
    },
  })
}

async function checkBlocks(blocks: readonly ScannedBlock[], watches: WatchIndex): Promise<readonly ScannedBlock[]> {
  const watched = await watchedAmong(
    blocks.flatMap(({ transfers }) => transfers),
    watches,
  )
  return blocks.map((block) => ({ ...block, transfers: onlyWatched(block.transfers, watched) }))
}

/** Null where every transfer is to a watched address. */
async function watchedAmong(
  transfers: readonly RawTransfer[],
  watches: WatchIndex,
): Promise<ReadonlySet<string> | null> {
  if (watches.among === undefined || transfers.length === 0) return null
  return watches.among([...new Set(transfers.map(({ matchKey }) => matchKey))])
}

const onlyWatched = (transfers: readonly RawTransfer[], watched: ReadonlySet<string> | null): readonly RawTransfer[] =>
  watched === null ? transfers : transfers.filter(({ matchKey }) => watched.has(matchKey))
