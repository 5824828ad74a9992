import type { Family, Mode, NetworkId } from '#shared/domain/enumerations.ts'
import { QUEUES, type QueueName } from '#shared/ports/runtime.ts'
import type { Sim } from '../world/sim.ts'

/*
 * Most of what an idle installation does is asking the store for work that is not there. These look at the store from the
 * outside and say for certain that a question would find nothing, so that a seed spends its events on what happens.
 */

/** Further ahead than any sweep looks. */
const AHEAD_MS = 10_000
/** So long after a machine's clock moved its processes may still count from the old one. */
const UNSURE_MS = 120_000

/** Statuses of invoices that are not over. */
const AWAITED: ReadonlySet<string> = new Set(['new', 'pending', 'partial', 'confirming'])

const isUnsure = (sim: Sim): boolean => sim.scheduler.now < sim.jumpedAt + UNSURE_MS

const isBefore = (value: unknown, time: number): boolean => value instanceof Date && value.getTime() <= time

/** No outbox entry waits anywhere. */
function nothingToRelay(sim: Sim): boolean {
  return !sim.store.documents('invoices').some((row) => row['outboxAt'] !== undefined)
}

/** No payment is unapplied and no invoice's clock is due soon. */
function nothingToAdvance(sim: Sim): boolean {
  const soon = sim.scheduler.now + (isUnsure(sim) ? Number.POSITIVE_INFINITY : AHEAD_MS)
  return (
    !sim.store.documents('invoices').some((row) => isBefore(row['nextActionAt'], soon)) &&
    !sim.store.documents('payments').some((row) => row['dirtyAt'] instanceof Date)
  )
}

/** No delivery is due soon. */
function nothingToSend(sim: Sim): boolean {
  const soon = sim.scheduler.now + (isUnsure(sim) ? Number.POSITIVE_INFINITY : AHEAD_MS)
  return !sim.store
    .documents('webhook_deliveries')
    .some((row) => row['status'] === 'pending' && isBefore(row['dueAt'], soon))
}

const IDLE: Partial<Record<QueueName, (sim: Sim) => boolean>> = {
  [QUEUES.outbox]: nothingToRelay,
  [QUEUES.invoiceTransitions]: nothingToAdvance,
  [QUEUES.webhooks]: nothingToSend,
  [QUEUES.webhooksSlow]: nothingToSend,
}

/** A sweep of this queue would find nothing. */
export const nothingToSweep = (sim: Sim, queue: QueueName): boolean => IDLE[queue]?.(sim) ?? false

/** No invoice's clock follows this action chain. */
export function nobodyWaitsFor(sim: Sim, chain: string): boolean {
  return !sim.store
    .documents('invoices')
    .some((row) => row['actionChain'] === chain && row['nextActionAt'] !== undefined)
}

/** Every address of a network's family has its mark. */
export function nothingToWatch(sim: Sim, mode: Mode, family: Family, network: NetworkId): boolean {
  return !sim.store
    .documents('addresses')
    .some(
      (row) =>
        row['mode'] === mode && row['family'] === family && !(row['watchedOn'] as readonly string[]).includes(network),
    )
}

/** Nobody at a desk asks anything of a scanner. */
export const nothingRequested = (sim: Sim): boolean =>
  !sim.store.documents('chain_commands').some(({ status }) => status === 'open')

/** No address is in a pack, so that scanners have nothing to read of packs. */
export const nothingPacked = (sim: Sim): boolean => sim.store.documents('watch_packs').length === 0

/** No invoice is over whose derived address is still in the memory of scanners. */
export function nothingToPack(sim: Sim): boolean {
  const over = new Set(
    sim.store
      .documents('invoices')
      .filter(({ status }) => !AWAITED.has(String(status)))
      .flatMap(({ paymentMethods }) =>
        (paymentMethods as readonly { readonly matchKey: string }[]).map(({ matchKey }) => matchKey),
      ),
  )
  return !sim.store
    .documents('addresses')
    .some((row) => row['packed'] === undefined && row['heldBy'] === undefined && over.has(String(row['matchKey'])))
}

/** No payment waits for a block or for confirmations. */
export function nothingUnconfirmed(sim: Sim): boolean {
  return !sim.store.documents('payments').some((row) => row['state'] === 'detected')
}
