import { Violation } from '../kernel/violation.ts'
import { CONFIRMATIONS } from '../processes/catalog.ts'
import type { Doc } from '../store/bson-values.ts'
import type { Sim } from './sim.ts'

/** After so long without any change the polls of idle processes find nothing new until the next thing is due … */
const QUIET_MS = 1_100
/** … unless something is due already: then it is a sweep's turn. */
const QUIET_DUE_MS = 2_600
/** How long before the next thing everybody is awake again, so that each sweep looks once before. */
const LEAD_MS = 1_300
/** Work that is due and not done, for instance because its worker is dead: time goes on in such steps. */
const STUCK_STEP_MS = 20_000
/** So many steps in a healthy world mean that nobody will ever do it. */
const STUCK_MAX = 120

/** Skips the time in which nothing happens, and knows when all is done. */
export function createIdle(sim: Sim, mayEnd: () => boolean) {
  const { scheduler } = sim
  let stuck = 0
  let lookedAt = 0
  return {
    /** True at the end. Skips ahead when nobody has anything to do. */
    isOver(): boolean {
      const { now } = scheduler
      const quietMs = now - sim.activeAt
      if (quietMs < QUIET_MS || now < lookedAt + 50) return false
      lookedAt = now
      const fixed = scheduler.nextFixed()
      if (fixed <= now + LEAD_MS) {
        scheduler.wakeAll()
        return false
      }
      const due = nextDue(sim)
      if (due.at === Number.POSITIVE_INFINITY && mayEnd()) return true
      const waits = due.at <= now
      if (waits && quietMs < QUIET_DUE_MS) {
        scheduler.wakeAll()
        return false
      }
      if (waits && sim.healed) {
        stuck += 1
        if (stuck > STUCK_MAX) throw new Violation('L3', `nobody does what is due: ${due.what}`)
      } else if (!waits) stuck = 0
      const target = waits ? Math.min(fixed, now + STUCK_STEP_MS) : Math.min(fixed, due.at)
      const justDelivery = !waits && due.at < fixed && due.isDelivery
      const sleeps = ({ type }: { readonly type: string }): boolean => justDelivery && type !== 'webhooks'
      if (target > now + LEAD_MS + 700) scheduler.skipTo(target - LEAD_MS, sleeps)
      return false
    },
  }
}

/** A payment under enough blocks that nobody confirmed yet. */
function isBuried(sim: Sim, row: Doc): boolean {
  const confirmAt = row['confirmAt']
  if (row['state'] !== 'detected' || typeof confirmAt !== 'number') return false
  const chain = sim.chains.get(`${row['mode']}:${row['network']}`)
  return chain !== undefined && chain.blocks.length - 1 >= confirmAt
}

/** While faults go on, nobody may ever look for long enough: time goes on in such steps. */
const FATE_STEP_MS = 60_000
/** A scanner needs minutes, and perhaps a few lives, to give a transaction up. */
const GIVE_UP_MS = 3_600_000

function mustEnd(sim: Sim, row: Doc): void {
  const since = row['updatedAt'] instanceof Date ? row['updatedAt'].getTime() : sim.scheduler.now
  const patience = Math.max(since, sim.healedAt) + GIVE_UP_MS
  if (sim.scheduler.now > patience) throw new Violation('L1', `transfer ${row['key']} is gone and still counts`)
}

/** An unconfirmed payment that the network forgot: the scanner gives it up after a while of looking without a pause. */
function isMissing(sim: Sim, row: Doc): boolean {
  if (row['state'] !== 'detected' || row['block'] !== null || row['kind'] !== 'onchain') return false
  return sim.chains.get(`${row['mode']}:${row['network']}`)?.mempool.has(String(row['txHash'])) === false
}

interface Due {
  readonly at: number
  readonly what: string
  /** Only dispatchers have something to do then. */
  readonly isDelivery: boolean
}

/** The next moment at which the product or a chain has something to do. */
function nextDue(sim: Sim): Due {
  let next: Due = { at: Number.POSITIVE_INFINITY, what: '', isDelivery: false }
  const consider = (at: number, what: () => string, isDelivery = false): void => {
    if (at < next.at) next = { at, what: what(), isDelivery }
  }
  const time = (value: unknown): number => (value instanceof Date ? value.getTime() : Number.POSITIVE_INFINITY)
  for (const row of sim.store.documents('webhook_deliveries')) {
    if (row['status'] === 'pending') consider(time(row['dueAt']), () => `delivery ${row['_id']}`, true)
  }
  for (const row of sim.store.documents('invoices')) {
    consider(time(row['outboxAt']), () => `outbox of ${row['_id']}`)
    consider(deadlineOf(sim, row), () => `deadline of ${row['_id']}`)
  }
  for (const row of sim.store.documents('payments')) {
    consider(time(row['dirtyAt']), () => `payment ${row['key']}`)
    if (isBuried(sim, row)) consider(sim.scheduler.now, () => `confirmation of ${row['key']}`)
    if (isMissing(sim, row)) mustEnd(sim, row)
    if (isMissing(sim, row))
      consider(sim.scheduler.now + (sim.healed ? 1 : FATE_STEP_MS), () => `fate of ${row['key']}`)
  }
  for (const chain of sim.chains.values()) {
    chain.sync(sim.scheduler.now)
    const { network } = chain
    const confirmations = network === 'bitcoin' || network === 'ethereum' ? CONFIRMATIONS[network] : 1
    if (chain.isWaiting(confirmations)) consider(chain.nextBlockAt, () => `block of ${chain.id}`)
    const [cursor] = sim.store.collection('chain_cursors').find({ _id: chain.id }, sim.store.now())
    const height = Number(cursor?.['height'] ?? 0)
    const branch = chain.blocks[height]?.hash
    if (cursor !== undefined && cursor['hash'] !== branch)
      consider(sim.scheduler.now, () => `fork of ${chain.id} at ${height}`)
    const unread = chain.blocks.slice(height + 1).some(({ txs }) => txs.length > 0)
    if (unread) consider(sim.scheduler.now, () => `blocks of ${chain.id} above ${height}`)
  }
  return next
}

/** The clock of an invoice; behind its chain it waits for the next block. */
function deadlineOf(sim: Sim, row: Doc): number {
  const at = row['nextActionAt']
  if (!(at instanceof Date)) return Number.POSITIVE_INFINITY
  const chain = sim.chains.get(String(row['actionChain']))
  if (chain === undefined || at.getTime() > sim.scheduler.now) return at.getTime()
  const last = chain.blocks.at(-1)?.time ?? 0
  return last > at.getTime() ? at.getTime() : chain.nextBlockAt
}
