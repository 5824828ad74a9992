import { MODES, type Mode, NETWORK_IDS, type NetworkId } from '#shared/domain/enumerations.ts'
import { activeLock, type InvoiceState, type Ms } from '#shared/domain/invoice/model.ts'
import { knownUntil } from './known-until.ts'
import type { Catalog } from './ports/catalog.ts'
import type { ExceptionRepository } from './ports/events.ts'
import type { InvoiceRepository } from './ports/invoices.ts'
import type { Ambient } from './ports/runtime.ts'
import type { ChainCursor, CursorRepository } from './ports/scanning.ts'

/** A chain that stands still for longer than this no longer holds back deadlines. */
const HALT_PATIENCE_MS = 15 * 60_000
/** Invoices per action chain and sweep. */
const BATCH = 200

/** What the clock of invoices needs. */
export interface DeadlineDeps extends Ambient {
  readonly invoices: Pick<InvoiceRepository, 'dueForAction'>
  readonly cursors: Pick<CursorRepository, 'list' | 'find'>
  readonly exceptions: Pick<ExceptionRepository, 'open'>
  readonly catalog: Pick<Catalog, 'hasNode'>
}

/** How many due invoices of each action chain the sweeps before have named in a row, because there were more than one sweep takes. */
export type DeadlineTurns = Map<string, number>

/**
 * Ids of invoices whose deadline has come, judged per chain: a deadline counts as reached once the scanner of that
 * chain has passed it, so that a payment in a block not read yet is never too late. A halted chain starves no other, and with
 * the same `turns` handed in each time, invoices that cannot be advanced starve none behind them.
 */
export async function dueInvoices(deps: DeadlineDeps, turns: DeadlineTurns = new Map()): Promise<readonly string[]> {
  const now = deps.clock.now()
  const cursors = new Map((await deps.cursors.list()).map((cursor) => [cursor.id, cursor]))
  const due = await Promise.all([
    nextDue(deps, 'none', now, turns),
    ...chains().map(async ({ id, mode, network }) => {
      const position = await chainPosition(deps, mode, network, cursors.get(id) ?? null, now)
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
  const position = await chainPosition(deps, state.mode, lock.network, cursor, now)
  return position !== null && state.nextActionAt <= position
}

/**
 * Up to when everything that happened on a chain is known: the time of its last scanned block, now for a network that
 * nobody scans in this mode, null while the first scan is still to come. A chain that stands still for more than
 * 15 minutes is now as well, and opens an exception.
 */
async function chainPosition(
  deps: DeadlineDeps,
  mode: Mode,
  network: NetworkId,
  cursor: ChainCursor | null,
  now: Ms,
): Promise<Ms | null> {
  if (!deps.catalog.hasNode(network, mode)) return now
  if (cursor === null || cursor.height < 0) return null
  if (!standsStill(cursor, now)) return Math.min(knownUntil(cursor), now)
  await deps.exceptions.open([
    {
      id: `halted_chain:${mode}:${network}`,
      kind: 'halted_chain',
      workspaceId: null,
      mode,
      invoiceId: null,
      paymentKey: null,
      detail: `${network} (${mode}) has not been scanned for 15 minutes: ${cursor.haltReason ?? cursor.waitReason ?? 'no scanner is running'}.`,
      openedAt: now,
      closedAt: null,
    },
  ])
  return now
}

/** A quiet chain has an old block but a fresh look at its head; a halted or abandoned one has neither. */
function standsStill(cursor: ChainCursor, now: Ms): boolean {
  if (now - cursor.time <= HALT_PATIENCE_MS) return false
  return cursor.status === 'halted' || now - cursor.headSeenAt > HALT_PATIENCE_MS
}

function chains(): readonly { readonly id: string; readonly mode: Mode; readonly network: NetworkId }[] {
  return MODES.flatMap((mode) => NETWORK_IDS.map((network) => ({ id: `${mode}:${network}`, mode, network })))
}
