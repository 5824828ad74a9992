import type { Ms } from '#shared/domain/invoice/model.ts'
import type { SearchBudget } from '#shared/ports/account-reader.ts'
import type { WatchedMethod } from '#shared/ports/invoices.ts'
import type { BlockRef, ScannedBlock } from '#shared/ports/scanned-blocks.ts'
import { NodeUnreliable } from '#shared/ports/scanning.ts'
import { knownUntil, scannedTime } from '#shared/usecases/networks/known-until.ts'
import type { ScanSession } from './scan-session.ts'

/** Readings of state that one search makes between both ends of its range. */
const READS_MAX = 400

/** Requests for logs of what accounts got in a long time, in one proof and in one page of a look. */
export const LOG_REQUESTS = 20

/** What one search may cost: as many blocks as a step reads, and so many requests for logs. */
export const searchBudget = ({ source }: ScanSession, logs: number): SearchBudget => ({
  blocks: source.batchMax,
  reads: READS_MAX,
  logs,
})

/** The smallest change of a balance that counts, in the order of the assets: what is worth less than moving it chooses no blocks. */
export const leastOf = ({ source, deps }: ScanSession): readonly bigint[] =>
  (source.client.accounts?.assets ?? []).map((asset) => deps.catalog.asset(asset).dustBase)

/** Blocks that are read in full within a day beside those that figures choose: 0.2 million units of Alchemy at 100 a block. */
const WHOLE_BLOCKS_A_DAY = 2_000
const DAY_MS = 24 * 3_600_000

/** Takes `spent` blocks from the day's budget, unless it has less left than all that there are to read. */
export function spendBlocks(session: ScanSession, all: number, spent: number): boolean {
  const now = session.deps.clock.now()
  const { wholeBlocks: { left, since } = { left: WHOLE_BLOCKS_A_DAY, since: now } } = session
  const isNewDay = now - since >= DAY_MS || now < since
  const available = isNewDay ? WHOLE_BLOCKS_A_DAY : left
  if (all > available) return false
  session.wholeBlocks = { left: available - spent, since: isNewDay ? now : since }
  return true
}

/** A watch of an open invoice, and all open invoices that share its address. */
export interface OpenWatch extends WatchedMethod {
  readonly invoiceIds: readonly string[]
}

/** Their match keys, in their order. */
export const keysOf = (watches: readonly OpenWatch[]): string[] => watches.map(({ matchKey }) => matchKey)

/**
 * Payment methods of open invoices whose deadline the cursor has not passed, or has passed without a proof, each address once: with its earliest showing and its next
 * deadline. Read after the head: an invoice that is missing was shown to nobody before that head was made.
 */
export async function openWatches({ deps, source, cursor, index }: ScanSession): Promise<readonly OpenWatch[]> {
  const passed = Math.min(scannedTime(cursor), (cursor.unproven ?? Number.POSITIVE_INFINITY) - 1)
  const rows = await deps.invoices.watchedMethods(source.mode, source.network, passed)
  const byKey = new Map<string, OpenWatch & { readonly invoiceIds: string[] }>()
  for (const row of rows) {
    // An address that is not watched on this network was never shown for it.
    if (!row.isOpen || !index.has(row.matchKey)) continue
    const known = byKey.get(row.matchKey)
    const { since, expiresAt, isUnpaid, isListed } = known ?? row
    const invoiceIds = known?.invoiceIds ?? []
    invoiceIds.push(row.invoiceId)
    byKey.set(row.matchKey, {
      ...row,
      invoiceIds,
      since: Math.min(row.since, since),
      expiresAt: Math.min(row.expiresAt, expiresAt),
      isUnpaid: row.isUnpaid || isUnpaid,
      isListed: row.isListed || isListed,
    })
  }
  return [...byKey.values()]
}

/** A block that the node must have. Throws `NodeUnreliable`. */
export async function blockAt({ source, pulse }: ScanSession, height: number): Promise<BlockRef> {
  pulse?.beat()
  const block = await source.client.blockAt(height)
  if (block === null) throw new NodeUnreliable(`the node has no block ${height} below its head`)
  return block
}

/**
 * When money of a sum may have come first whose earlier balance is that of a block: after the block, and after every deadline that has passed because
 * nothing had come.
 */
export async function earliestSince(session: ScanSession, height: number): Promise<Ms> {
  const { cursor, source } = session
  const { time } = await blockAt(session, height)
  return Math.max(time, knownUntil(cursor, source.thrifty?.blockTimeMs ?? 1))
}

/** The block at a height as full scanning reads it; `coins` are accounts whose coin balance counts. Throws `NodeUnreliable` unless it is still the node's block there. */
export async function readChosen(
  session: ScanSession,
  height: number,
  {
    outpoints,
    coins,
  }: { readonly outpoints?: ReadonlySet<string>; readonly coins?: ReadonlySet<string> | undefined } = {},
): Promise<ScannedBlock> {
  const { source, index } = session
  const [block] = await source.client.scan(height, height, index, outpoints, coins)
  if (block === undefined || block.height !== height) throw new NodeUnreliable(`block ${height} was not read`)
  // Servers behind one URL may be on different branches: the parent of a block that is read alone proves nothing.
  if ((await blockAt(session, height)).hash !== block.hash) {
    throw new NodeUnreliable(`block ${height} was read from another branch`)
  }
  return block
}

/** `impossible`: no node can answer about so old an account, or only in too many requests. `spent`: the budget of one step was used up first. */
export type Possibility = 'done' | 'spent' | 'impossible'

/**
 * Puts a request about accounts, oldest first, for all of them together. Where the oldest one makes it impossible, it halves them until every
 * younger one was requested for which it is possible: so many accounts take one request more than they can be halved.
 * Returns those for which it is impossible.
 */
export async function requestByAge<T>(
  byAge: readonly T[],
  request: (part: readonly T[]) => Promise<Possibility>,
): Promise<readonly T[] | 'spent'> {
  const whole = byAge.length === 0 ? 'done' : await request(byAge)
  if (whole !== 'impossible') return whole === 'done' ? [] : whole
  let impossible: readonly T[] = []
  // As a whole it is impossible, so its oldest one is.
  let left = byAge
  while (left.length > 1) {
    const half = Math.ceil(left.length / 2)
    const [older, younger] = [left.slice(0, half), left.slice(half)]
    const outcome = await request(younger)
    if (outcome === 'spent') return outcome
    if (outcome === 'impossible') impossible = [...impossible, ...older]
    left = outcome === 'impossible' ? younger : older
  }
  return [...impossible, ...left]
}
