import { EVERY_NETWORK, type Mode, type NetworkId } from '#shared/domain/enumerations.ts'
import { awaitedNetworks, type InvoiceState, type Ms, payableNetworks } from '#shared/domain/invoice/model.ts'
import type { ChainCursor } from '#shared/ports/cursors.ts'
import type { Runtime } from '#shared/ports/runtime.ts'
import { deadlinesPassUntil } from '#shared/usecases/networks/known-until.ts'
import type { Uses } from '#shared/usecases/uses.ts'

/** Invoices per action chain and sweep. */
const BATCH = 200

const CHAINS = EVERY_NETWORK.map((one) => ({ ...one, id: `${one.mode}:${one.network}` }))
const ACTION_CHAINS = ['none', ...CHAINS.map(({ id }) => id)]

/** Dependencies of the position of one invoice's chain. */
export type PositionDeps = Uses<'cursors' | 'catalog'>

/** Dependencies of finding due invoices. */
export type DeadlineDeps = Runtime & PositionDeps & Uses<'invoices' | 'cursors'>

/** For each action chain, how many due invoices the previous sweeps returned in a row, because one sweep could not take them all. */
export type DeadlineTurns = Map<string, number>

/**
 * Ids of invoices whose deadline has passed, checked per chain: a deadline counts as reached once the scanner of that
 * chain has passed it, so that a payment in an unread block is never too late. An invoice that waits for several chains is listed under one of
 * them at a time (`checkDeadline`). A stuck chain starves no other, and with
 * the same `turns` passed each time, invoices that cannot be advanced starve none behind them.
 */
export async function dueInvoices(deps: DeadlineDeps, turns: DeadlineTurns = new Map()): Promise<readonly string[]> {
  const now = deps.clock.now()
  // No position is later than now. Mostly nothing is due on any chain, and this question finds that out without a list of positions.
  if (!(await deps.invoices.isAnyDue(ACTION_CHAINS, now))) {
    turns.clear()
    return []
  }
  const cursors = new Map((await deps.cursors.list()).map((cursor) => [cursor.id, cursor]))
  const positions = CHAINS.flatMap(({ id, mode, network }) => {
    const until = chainPosition(deps, mode, network, cursors.get(id) ?? null, now)
    return until === null ? [] : [{ id, until }]
  })
  const waiting = [{ id: 'none', until: now }, ...positions]
  // While blocks are awaited, no position has reached what is due by the clock.
  const latest = Math.max(...waiting.map(({ until }) => until))
  const ids = waiting.map(({ id }) => id)
  if (!(await deps.invoices.isAnyDue(ids, latest))) {
    turns.clear()
    return []
  }
  const due = await Promise.all(waiting.map(({ id, until }) => nextDue(deps, id, until, turns)))
  return due.flat()
}

/** The oldest ones, or those behind the previous sweep's if it was full; after the last, from the beginning. */
async function nextDue(
  { invoices }: DeadlineDeps,
  actionChain: string,
  until: Ms,
  turns: DeadlineTurns,
): Promise<readonly string[]> {
  const skip = turns.get(actionChain) ?? 0
  const found = await invoices.dueForAction(actionChain, until, BATCH, skip)
  turns.set(actionChain, found.length < BATCH ? 0 : skip + BATCH)
  return found
}

/** A deadline at the positions of its chains. */
export interface DeadlineCheck {
  readonly isDue: boolean
  /** The chain that is furthest behind, by the id that `dueInvoices` lists invoices under; null when only one is awaited, or none. */
  readonly waitsFor: string | null
}

const NOT_YET: DeadlineCheck = { isDue: false, waitsFor: null }

/** Compares an invoice's deadline with the positions of all chains that its next check waits for. */
export async function checkDeadline(
  deps: PositionDeps & Pick<Runtime, 'clock'>,
  state: InvoiceState,
): Promise<DeadlineCheck> {
  const now = deps.clock.now()
  const { mode, nextActionAt } = state
  if (nextActionAt === null || nextActionAt > now) return NOT_YET
  const networks = awaitedNetworks(state)
  const positions = await positionsOf(deps, mode, networks, now)
  const until = Math.min(now, ...positions)
  if (nextActionAt <= until) return { isDue: true, waitsFor: null }
  const slowest = networks[positions.indexOf(until)]
  return { isDue: false, waitsFor: networks.length < 2 || slowest === undefined ? null : `${mode}:${slowest}` }
}

/**
 * The time up to which deadlines take effect on every chain that can still pay an invoice: `now` without one, and `-Infinity` before the
 * first scan of one of them.
 */
export async function deadlinesUntil(
  deps: PositionDeps,
  state: Pick<InvoiceState, 'mode' | 'paymentMethods'>,
  now: Ms,
): Promise<Ms> {
  return Math.min(now, ...(await positionsOf(deps, state.mode, payableNetworks(state), now)))
}

/** The positions of these networks, in their order; one read of the store, however many they are. */
async function positionsOf(
  deps: PositionDeps,
  mode: Mode,
  networks: readonly NetworkId[],
  now: Ms,
): Promise<readonly Ms[]> {
  const [first] = networks
  if (first === undefined) return []
  const cursors = networks.length === 1 ? [await deps.cursors.find(mode, first)] : await deps.cursors.list()
  return networks.map((network) => {
    const cursor = cursors.find((one) => one?.id === `${mode}:${network}`) ?? null
    return chainPosition(deps, mode, network, cursor, now) ?? Number.NEGATIVE_INFINITY
  })
}

/**
 * The time up to which deadlines on a chain take effect: its scanner's position or an operator's release; now for a test network
 * without a scanner; null before the first scan. However long a cursor stays put, no later deadline takes effect.
 */
function chainPosition(
  { catalog }: PositionDeps,
  mode: Mode,
  network: NetworkId,
  stored: ChainCursor | null,
  now: Ms,
): Ms | null {
  const cursor = stored === null ? null : withoutFutureReading(stored, now)
  // Removing a live network's node from the configuration must not end invoices whose payments were not read.
  if (!catalog.hasNode(network, mode) && (mode === 'test' || cursor === null)) return now
  if (cursor === null || cursor.height < 0) return null
  return Math.min(deadlinesPassUntil(cursor, catalog.blockTimeMs(network, mode)), now)
}

/** A reading of the mempool in the future was made before the clock was set back: it shows nothing about now. */
function withoutFutureReading(cursor: ChainCursor, now: Ms): ChainCursor {
  const { mempoolAt, ...blocksAlone } = cursor
  return mempoolAt !== undefined && mempoolAt > now ? blocksAlone : cursor
}
