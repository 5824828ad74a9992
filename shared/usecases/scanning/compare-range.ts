import {
  type BlockPlace,
  type Figure,
  growthBetween,
  type Holdings,
  hasCode,
  type LogRange,
  type Sums,
} from '#shared/ports/account-reader.ts'
import type { ExceptionRecord } from '#shared/ports/exceptions.ts'
import type { ScannedBlock, TransferBlock } from '#shared/ports/scanned-blocks.ts'
import { NodeUnreliable } from '#shared/ports/scanning.ts'
import { networkRow } from '#shared/usecases/networks/network-row.ts'
import { recordBlockTransfers } from '#shared/usecases/payments/record-payments.ts'
import { placeIncreases, withIncreases } from './balance-increase-transfers.ts'
import type { FoundIncrease } from './balance-sheet.ts'
import { readBalanceChanges } from './read-balance-changes.ts'
import { assertHeld, type ScanSession, writeScope } from './scan-session.ts'
import { confirmThroughCursor } from './scan-tick.ts'
import { settleIncreases } from './settle-increases.ts'
import { blockAt, leastOf, type Possibility, readChosen, searchBudget } from './thrifty-reads.ts'

/** Balances of these addresses against payments that are stored for a range at or below the cursor. */
export interface RangeComparison {
  readonly from: BlockPlace
  readonly to: BlockPlace
  readonly matchKeys: readonly string[]
  /** Those of them that sent something, or may have: coins are looked for that came in and went out again. */
  readonly senders?: readonly string[]
  /** Every node is asked, and what one of them shows counts. */
  readonly everywhere?: boolean
  /** Requests for logs of tokens that the comparison may make. */
  readonly logRequests: number
  /** Tokens that came in without a log are left to a person. Otherwise the range is not passed: a node withholds something. */
  readonly mayLackLogs: boolean
}

/**
 * Reads in full the blocks in which a balance changed by more than is stored, and stores what they contain: transfers, and coins that no
 * transfer shows as an increase of that account in that block. Returns the block where the budget was used up, to continue from there.
 * `gone`: no node has balances of the first block any more. `forked`: no node has both blocks. Throws `NodeUnreliable`.
 */
export async function compareRange(
  session: ScanSession,
  comparison: RangeComparison,
): Promise<'done' | 'gone' | 'forked' | BlockPlace> {
  const { from, to, matchKeys, senders = [], everywhere = false, logRequests } = comparison
  const { accounts } = session.source.client
  if (accounts === undefined || matchKeys.length === 0) return 'done'
  const stored = await storedSums(session, matchKeys, { above: () => from.height, to: to.height })
  const least = leastOf(session)
  const budget = searchBudget(session, logRequests)
  const range = { from, to, matchKeys, senders, exactly: false, stored, everywhere, least, budget }
  const found = await accounts.touched(range)
  if (typeof found === 'string') return found
  await reportCode(session, [found.start, found.state])
  const coins = new Set(matchKeys)
  for (const height of found.heights) {
    const block = await readChosen(session, height, { coins })
    await recordBlocks(session, height, [block], coins)
  }
  const isWhole = found.through === to.height
  const end = isWhole ? to : await blockAt(session, found.through)
  if (found.growth !== undefined && found.growth.size > 0) {
    await reportUnexplained(session, found.growth, comparison, end)
  }
  return isWhole ? 'done' : { height: end.height, hash: end.hash, time: end.time }
}

/** What is stored for each account above the height that `above` gives for it, up to `to`, in the order of the assets. Reads the store once. */
export async function storedSums(
  { deps, source }: ScanSession,
  matchKeys: readonly string[],
  { above, to }: { readonly above: (matchKey: string) => number; readonly to: number },
): Promise<Sums> {
  const { mode, network, client } = source
  const assets = client.accounts?.assets ?? []
  const sums = new Map(matchKeys.map((matchKey) => [matchKey, assets.map(() => 0n)]))
  const from = Math.min(...matchKeys.map(above)) + 1
  const stored = await deps.payments.listInBlocks({ mode, network, assets, matchKeys, from, to })
  for (const { matchKey, asset, amountBase, block } of stored) {
    const row = sums.get(matchKey)
    if (row === undefined || asset === null || block === null || block.height <= above(matchKey)) continue
    const at = assets.indexOf(asset)
    row[at] = (row[at] ?? 0n) + amountBase
  }
  return sums
}

/** Stores what these blocks contain, all of them at or below the cursor; `coins`: accounts whose balance of the coin is compared as well. */
export async function recordBlocks(
  session: ScanSession,
  from: number,
  blocks: readonly ScannedBlock[],
  coins: ReadonlySet<string>,
): Promise<void> {
  const settled = await withIncreasesOf(session, blocks, coins)
  assertHeld(session)
  await recordBlockTransfers(session.deps, { ...writeScope(session), from, blocks: settled })
  await confirmThroughCursor(session)
}

/**
 * Stores the blocks whose logs show tokens to these accounts and of which no payment is stored, whatever balances say. `impossible`, and nothing is
 * stored, where that takes more requests than `requests`. `spent` where a step reads fewer blocks: the next one finds the rest.
 */
export async function recordLogged(session: ScanSession, range: LogRange): Promise<Possibility> {
  const { source, deps } = session
  const { mode, network, client } = source
  const { from, to, matchKeys } = range
  const heights = await client.accounts?.received(range)
  if (heights == null) return 'impossible'
  const assets = client.accounts?.assets ?? []
  const rows = await deps.payments.listInBlocks({ mode, network, assets, matchKeys, from: from + 1, to })
  const known = new Set(rows.flatMap(({ block }) => block?.height ?? []))
  const coins = new Set(matchKeys)
  session.withoutLogged ??= new Map()
  const { withoutLogged } = session
  let left = source.batchMax
  for (const height of heights.filter((one) => !known.has(one))) {
    const hash = withoutLogged.get(height)
    if (hash !== undefined && (await blockAt(session, height)).hash === hash) continue
    if (left === 0) return 'spent'
    left -= 1
    const block = await readChosen(session, height, { coins })
    await recordBlocks(session, height, [block], coins)
    if (!block.transfers.some(({ matchKey }) => coins.has(matchKey))) withoutLogged.set(height, block.hash)
  }
  return 'done'
}

/** That logs of a range took more requests than they may. */
export function countWithoutLogs({ deps, source }: ScanSession): void {
  deps.metrics.count('scanner_ranges_without_logs_total', { mode: source.mode, network: source.network })
}

/** A block whose state is gone on every node gets no increase: the comparison of balances still shows the difference. */
async function withIncreasesOf(
  session: ScanSession,
  blocks: readonly ScannedBlock[],
  coins: ReadonlySet<string>,
): Promise<readonly TransferBlock[]> {
  const { balances } = session.source.client
  if (balances === undefined || coins.size === 0) return blocks
  const { found } = await readBalanceChanges(balances, blocks, coins)
  return settleIncreases(session, found)
}

/** Money at an account that no stored payment explains; null where its balance could not be read. */
export interface MoneyLeft {
  readonly matchKey: string
  /** Place of the asset among those of the network. */
  readonly index: number
  readonly restBase: bigint | null
}

/** Of the exception about this money: the same money has the same one. */
export const leftId = (session: ScanSession, money: MoneyLeft): string => leftRow(session, money, '').id

function leftRow(session: ScanSession, { matchKey, index, restBase }: MoneyLeft, waits: string): ExceptionRecord {
  const { source, cursor } = session
  const asset = source.client.accounts?.assets[index] ?? 'its coin'
  const amount = restBase === null ? 'an amount that could not be read' : `${restBase} base units`
  const detail = `0x${matchKey} on ${source.network} holds ${amount} of ${asset} more than its payments explain, up to block ${cursor.height}. ${waits} Find the transfer with a block explorer; then read its block again with \`paymesh chain rescan\`.`
  return networkRow(session, 'unexplained_balance', `${matchKey}:${asset}:${restBase ?? 'unread'}`, detail)
}

/** One exception for each account and asset, for the instance admins; the same money opens none twice. */
export async function reportLeft(session: ScanSession, left: readonly MoneyLeft[], waits: string): Promise<void> {
  const { deps, source } = session
  const { mode, network } = source
  const rows = left.map((money) => leftRow(session, money, waits))
  if (rows.length === 0) return
  await deps.exceptions.openOnce(rows)
  deps.metrics.count('scanner_unexplained_balances_total', { mode, network }, rows.length)
}

/**
 * One exception for each account that has code, where only balances choose the blocks that are read: what code moves on between two readings
 * shows in none of them. Nothing where every block is read.
 */
export async function reportCode(session: ScanSession, states: readonly Holdings[]): Promise<void> {
  const { deps, source } = session
  session.withCode ??= new Set()
  const known = session.withCode
  const found = states.flatMap((state) =>
    [...state].flatMap(([matchKey, figures]) => (hasCode(figures) ? matchKey : [])),
  )
  const fresh = [...new Set(found)].filter((matchKey) => !known.has(matchKey))
  if (fresh.length === 0 || source.thrifty === undefined) return
  const asset = source.client.accounts?.assets[0] ?? 'its coin'
  const rows = fresh.map((matchKey) => {
    const detail = `0x${matchKey} on ${source.network} has code, as contract wallets and delegated keys do: coins that its code moves on between two readings are not seen. Where that matters, read every block of this network ("source":"full"). If nobody was meant to delegate this address, somebody else has its key.`
    return networkRow(session, 'unexplained_balance', `${matchKey}:${asset}:code`, detail)
  })
  await deps.exceptions.openOnce(rows)
  for (const matchKey of fresh) known.add(matchKey)
}

/** Money that no block explains is left to a person. Throws `NodeUnreliable` for tokens, unless their logs may be missing. */
async function reportUnexplained(
  session: ScanSession,
  growth: Sums,
  { from, matchKeys, everywhere, mayLackLogs }: RangeComparison,
  to: BlockPlace,
): Promise<void> {
  const stored = await storedSums(session, matchKeys, { above: () => from.height, to: to.height })
  const least = leastOf(session)
  const left = [...growth].flatMap(([matchKey, figures]) =>
    least.flatMap((most, index): MoneyLeft[] => {
      const restBase = (figures[index] ?? 0n) - (stored.get(matchKey)?.[index] ?? 0n)
      return restBase <= 0n || restBase < most ? [] : [{ matchKey, index, restBase }]
    }),
  )
  const token = left.find(({ index }) => index > 0)
  if (token !== undefined && !mayLackLogs) {
    throw new NodeUnreliable(`a balance of a token of 0x${token.matchKey} grew without a transfer in any block`)
  }
  const waits = everywhere === true ? 'An invoice may wait for them.' : 'No open invoice waits for them.'
  await reportLeft(session, left, waits)
}

/**
 * By how much balances are above these, in the order of the assets, as far as every node shows it: one that claims more is not believed, and one
 * that could not read says nothing. Zero for less than what counts; null where no node could read.
 */
export function restsAbove(
  session: ScanSession,
  known: readonly (bigint | null)[],
  answers: readonly (readonly Figure[])[],
): readonly (bigint | null)[] {
  return leastOf(session).map((least, at) => {
    const growths = answers.flatMap((figures) => {
      const growth = known[at] === null ? null : growthBetween(known[at], figures[at])
      return growth ?? []
    })
    const [smallest = null] = growths.sort((one, other) => (one < other ? -1 : 1))
    return smallest === null || smallest >= least ? smallest : 0n
  })
}

/** Stores coins that only balances show as payments in the block of these balances, at or below the cursor. */
export async function recordIncreases(
  session: ScanSession,
  at: BlockPlace,
  found: ReadonlyMap<string, FoundIncrease>,
): Promise<void> {
  if (found.size === 0) return
  const block = await blockAt(session, at.height)
  if (block.hash !== at.hash) throw new NodeUnreliable(`block ${block.height} was replaced`)
  const placed = await Promise.all(
    [...found].map(([matchKey, increase]) => placeIncreases(session, [block], matchKey, [increase])),
  )
  assertHeld(session)
  const blocks = withIncreases([{ ...block, transfers: [] }], placed.flat())
  await recordBlockTransfers(session.deps, { ...writeScope(session), from: block.height, blocks })
  await confirmThroughCursor(session)
}
