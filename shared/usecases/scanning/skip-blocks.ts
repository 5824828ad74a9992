import { errorText } from '#shared/contracts/error-text.ts'
import type { AssetId } from '#shared/domain/enumerations.ts'
import { isLive } from '#shared/domain/invoice/totals.ts'
import type { ChainCommand } from '#shared/ports/chain-commands.ts'
import type { ChainCursor } from '#shared/ports/cursors.ts'
import { FUNDS_PAGE } from '#shared/ports/funds.ts'
import { ledgerKeys, type WatchedMethod } from '#shared/ports/invoices.ts'
import type { Payment } from '#shared/ports/payments.ts'
import type { ScannedBlock } from '#shared/ports/scanned-blocks.ts'
import { BlockUnreadable, NodeUnreliable } from '#shared/ports/scanning.ts'
import { networkRow } from '#shared/usecases/networks/network-row.ts'
import { recordFindings } from '#shared/usecases/payments/record-payments.ts'
import { placeOf } from './find-fork.ts'
import { recordIn } from './scan-mempool.ts'
import { resolveReorg } from './scan-reorg.ts'
import {
  assertHeld,
  moveCursor,
  type ScanSession,
  type SearchResult,
  type UnspentSearch,
  writeScope,
} from './scan-session.ts'
import { extendWindow } from './scan-window.ts'

/** Addresses whose unspent outputs one request looks for. */
const SEARCHED_TOGETHER = 20_000
/** The same where balances are read, twenty addresses at a time. */
const BALANCES_MAX = 1_000
const BALANCES_TIMEOUT_MS = 30_000
/** Invoices that ended so long before the first skipped block are looked at as well: late payments come to them. */
const ENDED_MS = 7 * 86_400_000
/** A search that its nodes fail is repeated for this long after the blocks were skipped: no deadline can be released meanwhile. */
const SEARCH_MS = 3_600_000
/** Invoices named in one inbox row. */
const NAMED_MAX = 20

/** Result of a step of a skip; `open` while its search runs. */
type SkipEnd = SkipRefusal | 'open' | 'cancelled'

interface SkipRefusal {
  readonly status: 'done' | 'refused'
  readonly outcome: string
  /** More blocks are gone than the request names. */
  readonly isTooFar?: true
}

/** Blocks that were skipped: the part of a cursor that holds deadlines back until a person releases them. */
type SkippedBlocks = NonNullable<ChainCursor['skipped']>

/**
 * Skips blocks that no node has any more, up to the first one that can be read, and then searches what they paid that is still unspent.
 *
 * | what the nodes give | what happens |
 * |---|---|
 * | the block after the cursor | refused: it is read as usual |
 * | one of them is down, or failed the last request | refused: it may have the blocks |
 * | not even their newest block, or a failure that may pass | the request stays open |
 * | another block at the cursor | the scan steps back to the fork first: what replaced its blocks is skipped, and searched, with the rest |
 * | a later block, above `to` of the request | refused, with the height that it takes |
 * | a later block | one compare-and-set moves the cursor before it, and holds deadlines from the last block that was read until a person releases them |
 *
 * After a crash behind that write the search begins again, and while nodes fail it, for an hour: its payments have the keys under which a block
 * would show them. A node that refuses it ends it at once. Where the search waits for final blocks and the block after the cursor is gone as well
 * by then, the same request skips further: the scan would wait for it, and it for the scan. Above its `to` it ends without the search, and says so.
 */
export async function skipBlocks(session: ScanSession, command: ChainCommand): Promise<SkipEnd> {
  const { cursor } = session
  // Not by the last request that moved the cursor: a rewind may have, while the search waits.
  const isBehind = cursor.skipped?.command === command.id
  if (isBehind && (cursor.trouble == null || !waitsForFinality(session))) return searchUnspent(session, command)
  const end = await moveOverGap(session, command)
  if (end === 'moved') return searchUnspent(session, command)
  if (typeof end === 'string' || !isBehind) return end
  // What refuses to go on only now may pass; blocks that nobody allowed to skip stay, and the scan waits for another request.
  if (!end.isTooFar) return 'open'
  session.searching = { command: command.id, result: notSearched(end.outcome) }
  return searchUnspent(session, command)
}

/** Moves the cursor over blocks that no node has, where the request allows it. */
async function moveOverGap(
  session: ScanSession,
  command: ChainCommand,
): Promise<SkipRefusal | 'open' | 'cancelled' | 'moved'> {
  const { cursor, source, deps } = session
  if (cursor.status === 'halted') return { status: 'refused', outcome: 'The scanner is halted: resume it first.' }
  const silent = source.client.silence?.().hosts ?? []
  if (silent.length > 0) return mayHaveThem(silent)
  const from = cursor.height + 1
  const head = await source.client.head()
  if (head.height < from) return { status: 'done', outcome: `The node has no block above ${cursor.height}.` }
  const own = await placeOf(source.client, cursor.height)
  if (own !== null && own.hash !== cursor.hash) {
    await resolveReorg(session, head.height)
    return 'open'
  }
  if ((await readable(session, from)) !== null) {
    return { status: 'refused', outcome: `Block ${from} can be read. Nothing was skipped.` }
  }
  const first = await firstReadable(session, from, head.height)
  // One that pauses for its rate, or fails now, was not asked: only those that answered have dropped the blocks.
  const failing = source.client.silence?.().failing ?? []
  if (failing.length > 0) return mayHaveThem(failing)
  const to = first.height - 1
  if (command.to !== null && to > command.to) {
    const outcome = `No node has blocks ${from} to ${to}. To skip them all, request it with --to ${to}.`
    return { status: 'refused', outcome, isTooFar: true }
  }
  assertHeld(session)
  if (!(await deps.commands.take(command.id))) return 'cancelled'
  // Those of an earlier skip are not released yet; a reorganisation may have led below them.
  const earlier = cursor.skipped ?? { from, since: cursor.time }
  const { recheckThrough = null, fullAbove = null } = cursor
  const skipped: SkippedBlocks = {
    from: Math.min(earlier.from, from),
    to,
    since: Math.min(earlier.since, cursor.time),
    until: first.time,
    at: deps.clock.now(),
    by: command.requestedBy,
    command: command.id,
  }
  await moveCursor(session, {
    height: to,
    hash: first.parentHash,
    time: first.time,
    // A reorganisation below the skipped blocks finds where it leaves what was read.
    window: extendWindow(cursor.window, [[to, first.parentHash]], source.finalityDepth),
    status: 'catchup',
    trouble: null,
    recheckThrough: recheckThrough !== null && recheckThrough > to ? recheckThrough : null,
    fullAbove: fullAbove === null ? null : Math.max(fullAbove, to),
    advancedAt: deps.clock.now(),
    skipped,
  })
  return 'moved'
}

const mayHaveThem = (hosts: readonly string[]): SkipRefusal => ({
  status: 'refused',
  outcome: `${hosts.join(' and ')} did not respond, and may have the blocks. Try again when they do, or repair or remove these nodes first.`,
})

/** The block at a height as a scan reads it; null when the nodes do not have it any more. Other failures are thrown: they say nothing about the block. */
async function readable({ source, index }: ScanSession, height: number): Promise<ScannedBlock | null> {
  try {
    const [block] = await source.client.scan(height, height, index)
    return block ?? null
  } catch (error) {
    if (error instanceof BlockUnreadable && error.isGone) return null
    throw error
  }
}

/** The lowest block that can be read. Looked for from below in doubling steps: what a node lacks may have another gap behind it. */
async function firstReadable(session: ScanSession, from: number, head: number): Promise<ScannedBlock> {
  let missing = from
  let found: ScannedBlock | null = null
  for (let step = 1; found === null; step *= 2) {
    const at = Math.min(from + step, head)
    found = await readable(session, at)
    if (found === null && at === head) throw new NodeUnreliable('the node gives not even its newest block')
    if (found === null) missing = at
  }
  while (found.height - missing > 1) {
    const middle = Math.floor((missing + found.height) / 2)
    const block: ScannedBlock | null = await readable(session, middle)
    // Where heights have gaps, the block may lie above the one that was asked for.
    if (block === null) missing = middle
    else if (block.height < found.height) found = block
    else break
  }
  return found
}

/** Balances are those of final blocks: before the skipped ones are final, they do not show what was paid in them. */
function waitsForFinality({ cursor, source }: ScanSession): boolean {
  const finalHeight = cursor.finalizedHeight ?? Number.POSITIVE_INFINITY
  return source.client.unspent === undefined && finalHeight < (cursor.skipped?.to ?? 0)
}

async function searchUnspent(session: ScanSession, command: ChainCommand): Promise<SkipEnd> {
  const { deps, cursor, source } = session
  const { skipped } = cursor
  if (skipped == null) return { status: 'done', outcome: 'Blocks were skipped, and their deadlines released since.' }
  const begun = session.searching?.command === command.id ? session.searching : undefined
  if (begun === undefined && waitsForFinality(session)) return 'open'
  const search = begun ?? begin(session, command, skipped)
  session.searching = search
  if (search.result === null) return 'open'
  const found = search.result.blocks.flatMap(({ height, hash, time, transfers }) =>
    transfers.map((transfer) => {
      return { transfer, block: { height, hash, time }, seenAt: Math.min(time, deps.clock.now()) }
    }),
  )
  assertHeld(session)
  const position = writeScope(session)
  const stored = await recordIn(session, () => recordFindings(deps, position, { found, outcomes: [] }))
  const { from, to } = skipped
  const outcome = `Blocks ${from} to ${to} were skipped. ${search.result.words(stored.length)}`
  const detail = `${source.network} (${source.mode}): ${outcome} Deadlines after ${new Date(skipped.since).toISOString()} wait until you let them pass: "paymesh chain release-deadlines ${source.network}".`
  await deps.exceptions.openOnce([networkRow(session, 'unexplained_balance', `skipped:${from}:${to}`, detail)])
  session.searching = undefined
  return { status: 'done', outcome }
}

function begin(session: ScanSession, { id }: ChainCommand, skipped: SkippedBlocks): UnspentSearch {
  const { deps } = session
  const search: UnspentSearch = { command: id, result: null }
  const look = session.source.client.unspent === undefined ? balancesOf : unspentOf
  look(session, skipped).then(
    (result) => {
      search.result = result
    },
    (error: unknown) => {
      const isOver = error instanceof NodeUnreliable && (error.isGone || deps.clock.now() - skipped.at >= SEARCH_MS)
      if (!isOver) {
        // The next step begins it again.
        session.searching = undefined
        return
      }
      search.result = notSearched(errorText(error))
    },
  )
  return search
}

function notSearched(reason: string): SearchResult {
  const words = `What they paid was not searched (${reason}). Compare open invoices with a block explorer.`
  return { blocks: [], words: () => words }
}

/** Every address in memory: those of open and recent invoices. */
async function unspentOf({ source, index }: ScanSession, { from, to }: SkippedBlocks): Promise<SearchResult> {
  const blocks: ScannedBlock[] = []
  let keys: string[] = []
  let searched = 0
  const search = async () => {
    blocks.push(...((await source.client.unspent?.(keys, { from, to })) ?? []))
    searched += keys.length
    keys = []
  }
  for await (const key of index.keys()) if (keys.push(key) >= SEARCHED_TOGETHER) await search()
  if (keys.length > 0 || searched === 0) await search()
  const words = (stored: number) =>
    `${stored} payments in them that are still unspent were stored, of ${searched} addresses; coins that were spent since are not found.`
  return { blocks, words }
}

/** Names invoices at whose addresses there is more than their payments say; a balance does not show which transfer it came with. */
async function balancesOf({ deps, source, cursor }: ScanSession, { since, to }: SkippedBlocks): Promise<SearchResult> {
  const { mode, network, client } = source
  if (client.funds === undefined) throw new NodeUnreliable('nodes of this network do not show balances')
  const watches = await deps.invoices.watchedMethods(mode, network, since - ENDED_MS)
  const named: string[] = []
  const searched = [...watches].sort((one, other) => other.expiresAt - one.expiresAt).slice(0, BALANCES_MAX)
  for (let at = 0; at < searched.length; at += FUNDS_PAGE) {
    const methods = await Promise.all(searched.slice(at, at + FUNDS_PAGE).map((watch) => methodOf(deps, watch)))
    const known = methods.flatMap((method) => (method === null ? [] : [method]))
    const reading = await client.funds.read(known, { timeoutMs: BALANCES_TIMEOUT_MS })
    const through = reading.height ?? cursor.finalizedHeight ?? Number.POSITIVE_INFINITY
    if (through < to) throw new NodeUnreliable(`the balances are those of block ${through}`)
    for (const { invoiceId, asset, address, matchKey, payments } of known) {
      const held = reading.funds.get(matchKey) ?? []
      // What came above the balances is not in them, and what was not confirmed below the skipped blocks may be of a branch that was replaced: each
      // would hide as much that came in skipped blocks.
      const isIn = ({ state, block }: Payment) =>
        block !== null && block.height <= through && (state === 'confirmed' || block.height > to)
      const stored = sumsOf(payments.filter(isIn))
      const isUnread = (held.find((one) => one.asset === asset)?.balanceBase ?? null) === null
      const holdsMore = held.some((one) => (one.balanceBase ?? 0n) > (stored.get(one.asset) ?? 0n))
      if (isUnread || holdsMore) named.push(`${invoiceId} (${address})`)
    }
  }
  const shown = named.slice(0, NAMED_MAX).join(', ')
  const more = named.length > NAMED_MAX ? ` and ${named.length - NAMED_MAX} more` : ''
  const what = named.length === 0 ? 'None of them holds' : `These hold, or may hold,`
  const words = `The balances of ${searched.length} of ${watches.length} addresses were read. ${what} more than the payments of their invoice${named.length === 0 ? '' : `: ${shown}${more}`}. An address of a list may hold what earlier invoices left there, and one that many invoices share shows nothing: compare them with a block explorer.`
  return { blocks: [], words: () => words }
}

/** The payment method of an invoice at an address, and the payments that are stored there; null where many invoices share the address. */
async function methodOf(deps: ScanSession['deps'], { invoiceId, matchKey }: WatchedMethod) {
  const invoice = await deps.invoices.findById(invoiceId)
  const method = invoice?.state.paymentMethods.findLast((one) => one.matchKey === matchKey)
  if (invoice === null || method === undefined || method.hold?.kind === 'amount') return null
  const all = await deps.payments.listAmong(invoiceId, ledgerKeys(invoice))
  const payments = all.filter((one) => one.matchKey === matchKey && isLive(one))
  return { invoiceId, asset: method.asset, address: method.address, matchKey, payments }
}

function sumsOf(payments: readonly Payment[]): ReadonlyMap<AssetId, bigint> {
  const sums = new Map<AssetId, bigint>()
  for (const { asset, amountBase } of payments) {
    if (asset !== null) sums.set(asset, (sums.get(asset) ?? 0n) + amountBase)
  }
  return sums
}
