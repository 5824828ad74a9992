import type { ChainCommand } from '#shared/ports/chain-commands.ts'
import { AmountContradicted } from '#shared/ports/payments.ts'
import type { BlockRef, ScannedBlock, TransferBlock } from '#shared/ports/scanned-blocks.ts'
import { NodeUnreliable } from '#shared/ports/scanning.ts'
import { recordBlockTransfers } from '#shared/usecases/payments/record-payments.ts'
import { reportGap } from './balance-gaps.ts'
import { isTooDeep, locateFork } from './find-fork.ts'
import { READ_ACCOUNTS_MAX, readBalanceChanges } from './read-balance-changes.ts'
import { outpointsOf, recordIn, unconfirmedOf } from './scan-mempool.ts'
import { looksUpTo } from './scan-mode.ts'
import { mempoolUpTo, reportMoving, unprovenUpTo } from './scan-reorg.ts'
import { assertHeld, LeaseLost, moveCursor, type ScanSession, writeScope } from './scan-session.ts'
import { confirmThroughCursor } from './scan-tick.ts'
import { windowUpTo } from './scan-window.ts'
import { settleIncreases } from './settle-increases.ts'
import { skipBlocks } from './skip-blocks.ts'

/** Heights below the target of a rewind that are tried on chains with gaps. */
const GAP_MAX = 200

/** Result of a request; `open` when it continues later. */
type End = { readonly status: 'done' | 'refused'; readonly outcome: string } | 'open' | 'cancelled'

/**
 * Runs the operators' requests for this network: a rescan by one step, the others completely. Every write is this
 * holder's, so a successor continues where it stops; a request that was done but not closed is closed and not repeated. Returns
 * whether anything was done. Throws `NodeUnreliable` when the node does not prove to be on the scanned chain; the
 * request stays open then.
 */
export async function followCommands(session: ScanSession): Promise<boolean> {
  const { deps, source } = session
  const open = await deps.commands.listOpen(source.mode, source.network)
  let worked = false
  // Requests that move the cursor go first: a long rescan must not keep a halted chain from resuming.
  for (const command of [...open].sort((one, other) => rank(one) - rank(other))) {
    const step = command.kind === 'rescan' ? rescanStep : wholeStep
    worked = (await step(session, command)) || worked
  }
  return worked
}

const rank = ({ kind }: ChainCommand): number => (kind === 'rescan' ? 1 : 0)

async function wholeStep(session: ScanSession, command: ChainCommand): Promise<boolean> {
  const end = await (command.kind === 'skip' ? skipBlocks : moveBack)(session, command)
  if (end === 'open' || end === 'cancelled') return false
  await finish(session, command, end)
  return true
}

async function moveBack(session: ScanSession, command: ChainCommand): Promise<End> {
  if (session.cursor.lastCommand === command.id) return moved(session)
  return (command.kind === 'resume' ? resume : rewind)(session, command)
}

async function resume(session: ScanSession, command: ChainCommand): Promise<End> {
  const { cursor, source } = session
  if (cursor.status !== 'halted') return { status: 'done', outcome: 'The scanner was no longer halted.' }
  const head = await source.client.head()
  const found = await locateFork(session, { ...cursor, headHeight: head.height })
  const { block: fork } = found
  if (fork === null) {
    const outcome = `The node has none of the blocks remembered from ${cursor.window[0]?.[0] ?? cursor.height} on. If it is the right node, choose where to continue: rewind --to HEIGHT --accept-reorg.`
    return { status: 'refused', outcome }
  }
  const depth = cursor.height - fork.height
  const isFinal = isTooDeep(found, { ...cursor, finalityDepth: source.finalityDepth })
  if (isFinal && !command.acceptReorg) {
    const outcome = `Block ${fork.height} is the newest block that the node still has, ${depth} below block ${cursor.height} and below finality. Compare with another node; then run it again with --accept-reorg.`
    return { status: 'refused', outcome }
  }
  return goBack(session, command, fork)
}

async function rewind(session: ScanSession, command: ChainCommand): Promise<End> {
  const { cursor } = session
  const target = command.to ?? cursor.height
  if (target >= cursor.height) {
    return { status: 'done', outcome: `The scanner is at block ${cursor.height}: there is nothing to rewind.` }
  }
  if (!(await isOnOurChain(session))) {
    if (cursor.status !== 'halted') throw new NodeUnreliable('the node is not on the chain scanned so far')
    if (!command.acceptReorg) {
      const outcome = `The node does not have block ${cursor.height} as scanned. Compare with another node; then resume, or run it again with --accept-reorg.`
      return { status: 'refused', outcome }
    }
  }
  const block = await blockAtOrBelow(session, target)
  return goBack(session, command, block)
}

/** One compare-and-set moves the cursor; the following scan handles payments. */
async function goBack(session: ScanSession, command: ChainCommand, to: BlockRef): Promise<End> {
  const { deps, cursor } = session
  assertHeld(session)
  // From here on the request takes effect, if not in this process then with the next holder.
  if (!(await deps.commands.take(command.id))) return 'cancelled'
  const finalizedHeight = cursor.finalizedHeight
  await moveCursor(session, {
    height: to.height,
    hash: to.hash,
    time: to.time,
    window: windowUpTo(cursor.window, to),
    ...looksUpTo(cursor, to),
    status: 'catchup',
    haltReason: null,
    ...(await mempoolUpTo(session, to)),
    ...(await unprovenUpTo(session, to)),
    ...(cursor.atHeadAt !== undefined && { atHeadAt: Math.min(cursor.atHeadAt, to.time) }),
    advancedAt: deps.clock.now(),
    trouble: null,
    ...(command.acceptReorg && finalizedHeight !== null && { finalizedHeight: Math.min(finalizedHeight, to.height) }),
    recheckThrough: Math.max(cursor.recheckThrough ?? -1, cursor.height),
    lastCommand: command.id,
  })
  return moved(session)
}

async function moved(session: ScanSession): Promise<End> {
  const { deps, source, cursor } = session
  await reportMoving(session)
  deps.metrics.gauge('scanner_halted', 0, { mode: source.mode, network: source.network })
  return { status: 'done', outcome: `The scanner resumed from block ${cursor.height}.` }
}

/** Requests for balances in one step of a rescan: even a slow node answers them before the scanner counts as silent. */
const BALANCE_REQUESTS_MAX = 1_000

/** Blocks of one step: fewer with many addresses, whose balances are read at each. */
function stepOf({ source, index }: ScanSession): number {
  if (source.client.balances === undefined) return source.batchMax
  const requests = Math.ceil((index.size + (index.cold?.size ?? 0)) / READ_ACCOUNTS_MAX)
  return Math.max(1, Math.min(source.batchMax, Math.floor(BALANCE_REQUESTS_MAX / Math.max(1, requests)) - 1))
}

/**
 * Reads one batch again, with the coin balances of every watched address at each block. Its results count only if the node proves to be on the
 * cursor's chain.
 */
async function rescanStep(session: ScanSession, command: ChainCommand): Promise<boolean> {
  const { deps, source, cursor, index } = session
  const from = command.nextHeight ?? 0
  const last = command.to ?? from
  if (from > last) {
    const outcome = `Blocks ${command.from ?? 0} to ${last} were rescanned; ${command.changed} payments were found or changed.`
    await finish(session, command, { status: 'done', outcome })
    return true
  }
  const to = Math.min(last, cursor.height, from + stepOf(session) - 1)
  if (cursor.status === 'halted' || to < from) return false
  const unconfirmed = await unconfirmedOf(session)
  const { balances } = source.client
  const accounts = balances === undefined ? undefined : index
  const read = await source.client.scan(from, to, index, outpointsOf(unconfirmed), accounts)
  if (read.length === 0) throw new NodeUnreliable('the node has none of the blocks to read again')
  const blocks = read.filter((block) => block.height <= to)
  await proveChain(session, blocks)
  // Before the lease is asserted: the key of an increase depends on stored payments, so no other holder may write in between.
  const settled = await withBalanceIncreases(session, blocks)
  assertHeld(session)
  const input = { ...writeScope(session), from, blocks: settled, unconfirmed }
  const changed =
    blocks.length === 0 ? [] : await orContradiction(() => recordIn(session, () => recordBlockTransfers(deps, input)))
  if (changed instanceof AmountContradicted) {
    const outcome = `Blocks ${from} to ${to} could not be read completely: ${changed.message}. Stored payments stay. Compare the block with another node.`
    await finish(session, command, { status: 'refused', outcome })
    return true
  }
  await confirmThroughCursor(session)
  assertHeld(session)
  // A client may stop before a block that it must read in another way.
  const next = { nextHeight: (blocks.at(-1)?.height ?? to) + 1, changed: command.changed + changed.length }
  if (await deps.commands.progress(command, next)) return true
  if ((await deps.commands.findById(command.id))?.status === 'cancelled') return true
  throw new LeaseLost('another holder advanced the rescan')
}

/** What reached any watched address in these blocks, increases included. A part whose state no node has any more is named in the inbox. */
async function withBalanceIncreases(
  session: ScanSession,
  blocks: readonly ScannedBlock[],
): Promise<readonly TransferBlock[]> {
  const { source, index } = session
  const { balances } = source.client
  if (balances === undefined) return blocks
  const { found, gone } = await readBalanceChanges(balances, blocks, index.keys())
  const [first] = gone
  if (first !== undefined) {
    assertHeld(session)
    await reportGap(session, { from: first, to: gone.at(-1) ?? first, accounts: index.size })
  }
  return settleIncreases(session, found)
}

/** The result, or how it contradicts stored data: no repetition would change that, so the request must end. */
async function orContradiction<T>(work: () => Promise<T>): Promise<T | AmountContradicted> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof AmountContradicted) return error
    throw error
  }
}

async function proveChain(session: ScanSession, blocks: readonly ScannedBlock[]): Promise<void> {
  const remembered = new Map(session.cursor.window)
  const differs = blocks.some(({ height, hash }) => (remembered.get(height) ?? hash) !== hash)
  if (differs || !(await isOnOurChain(session))) {
    throw new NodeUnreliable('the node is not on the chain scanned so far')
  }
}

async function isOnOurChain({ source, cursor }: ScanSession): Promise<boolean> {
  return (await source.client.blockAt(cursor.height))?.hash === cursor.hash
}

/** The block at a height, or where heights have gaps the next one below. */
async function blockAtOrBelow({ source }: ScanSession, height: number): Promise<BlockRef> {
  const lowest = source.client.hasGaps === true ? Math.max(0, height - GAP_MAX) : height
  for (let at = height; at >= lowest; at -= 1) {
    const block = await source.client.blockAt(at)
    if (block !== null) return block
  }
  throw new NodeUnreliable(`the node has no block at ${height}`)
}

async function finish(
  session: ScanSession,
  command: ChainCommand,
  { status, outcome }: Exclude<End, 'open' | 'cancelled'>,
): Promise<void> {
  const { deps, source, lease } = session
  const { mode, network } = source
  assertHeld(session)
  const at = deps.clock.now()
  await deps.commands.finish(
    command.id,
    { status, outcome, at },
    {
      id: `${command.id}:finished`,
      at,
      actor: `scanner:${lease.epoch}`,
      action: `chain.${command.kind}_${status}`,
      subject: `${mode}:${network}`,
      workspaceId: null,
      mode,
      detail: { command: command.id, outcome },
    },
  )
  deps.logger.warn({ network, mode, kind: command.kind, status, outcome }, 'a requested chain command ended')
}
