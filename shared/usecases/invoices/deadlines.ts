import { MODES, type Mode, NETWORK_IDS, type NetworkId } from '#shared/domain/enumerations.ts'
import { activeLock, type InvoiceState, type Ms } from '#shared/domain/invoice/model.ts'
import type { Catalog } from '#shared/ports/chain-catalog.ts'
import type { InvoiceRepository } from '#shared/ports/invoices.ts'
import type { Ambient } from '#shared/ports/runtime.ts'
import type { ChainCursor, CursorRepository } from '#shared/ports/scanning.ts'
import { deadlinesPassUntil } from '#shared/usecases/networks/known-until.ts'

/** Invoices per action chain and sweep. */
const BATCH = 200

/** What the clock of invoices needs. */
export interface DeadlineDeps extends Ambient {
  readonly invoices: Pick<InvoiceRepository, 'dueForAction'>
  readonly cursors: Pick<CursorRepository, 'list' | 'find'>
  readonly catalog: Pick<Catalog, 'hasNode' | 'blockTimeMs'>
}

/** How many due invoices of each action chain the sweeps before have named in a row, because there were more than one sweep takes. */
export type DeadlineTurns = Map<string, number>

/**
 * Ids of invoices whose deadline has come, judged per chain: a deadline counts as reached once the scanner of that
 * chain has passed it, so that a payment in a block not read yet is never too late. A stuck chain starves no other, and with
 * the same `turns` handed in each time, invoices that cannot be advanced starve none behind them.
 */
export async function dueInvoices(deps: DeadlineDeps, turns: DeadlineTurns = new Map()): Promise<readonly string[]> {
  const now = deps.clock.now()
  const cursors = new Map((await deps.cursors.list()).map((cursor) => [cursor.id, cursor]))
  const due = await Promise.all([
    nextDue(deps, 'none', now, turns),
    ...chains().map(async ({ id, mode, network }) => {
      const position = chainPosition(deps, mode, network, cursors.get(id) ?? null, now)
      return position === null ? [] : nextDue(deps, id, position, turns)
    }),
  ])
  return due.flat()
}

/** The oldest ones, or those behind the ones named last time when these filled a sweep; from the beginning after the last. */
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

/** True when the clock of this very invoice has come by the position of its chain. */
export async function isDue(deps: DeadlineDeps, state: InvoiceState): Promise<boolean> {
  const now = deps.clock.now()
  if (state.nextActionAt === null || state.nextActionAt > now) return false
  const lock = activeLock(state)
  if (lock === null) return true
  const cursor = await deps.cursors.find(state.mode, lock.network)
  const position = chainPosition(deps, state.mode, lock.network, cursor, now)
  return position !== null && state.nextActionAt <= position
}

/**
 * Up to when deadlines on a chain pass: where its scanner has read to or an operator released them, now for a test network that
 * nobody scans, null while the first scan is still to come. However long a cursor stays where it is, nothing passes beyond it.
 */
function chainPosition(
  { catalog }: DeadlineDeps,
  mode: Mode,
  network: NetworkId,
  cursor: ChainCursor | null,
  now: Ms,
): Ms | null {
  // Taking a live network's node out of the configuration must not end invoices whose payments nobody has read.
  if (!catalog.hasNode(network, mode) && (mode === 'test' || cursor === null)) return now
  if (cursor === null || cursor.height < 0) return null
  return Math.min(deadlinesPassUntil(cursor, catalog.blockTimeMs(network)), now)
}

function chains(): readonly { readonly id: string; readonly mode: Mode; readonly network: NetworkId }[] {
  return MODES.flatMap((mode) => NETWORK_IDS.map((network) => ({ id: `${mode}:${network}`, mode, network })))
}
