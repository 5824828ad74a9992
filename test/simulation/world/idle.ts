import { Violation } from '../kernel/violation.ts'
import { CONFIRMATIONS } from '../processes/catalog.ts'
import type { Doc } from '../store/bson-values.ts'
import { isWired, WIRE_FINAL_DEPTH } from '../wire/wire-client.ts'
import type { SimChain } from './chain.ts'
import { isUnprovable } from './dropped.ts'
import type { Sim } from './sim.ts'
import { attentiveAt, unfoundAt } from './thrifty-due.ts'

/** After so long without any change the polls of idle processes find nothing new until the next thing is due … */
const QUIET_MS = 1_100
/** … unless something is due already: then it is a sweep's turn. */
const QUIET_DUE_MS = 2_600
/** How long before the next thing everybody is awake again, so that each sweep looks once before. */
const LEAD_MS = 1_300
/** Work that is due and not done, for instance because its worker is dead: time goes on in such steps. */
const STUCK_STEP_MS = 20_000
/** The same while faults go on: what is missing then may be missing for long. */
const STUCK_FAULTY_MS = 60_000
/** After each of these steps everybody has so much more time: a scanner whose lease ended meanwhile has much to ask before it stores anything. */
const STUCK_PAUSE_MS = 500
/** So many steps in a healthy world mean that nobody will ever do it. */
const STUCK_MAX = 120
/** Within so long every process that is awake has asked the store for its time. */
const CLOCK_CHECK_MS = 60_000
/** So many, and perhaps it takes somebody of whom nobody would think. */
const STUCK_ALONE = 5

/** Skips the time in which nothing happens, and knows when all is done. */
export function createIdle(sim: Sim, mayEnd: () => boolean) {
  const { scheduler } = sim
  let stuck = 0
  let lookedAt = 0
  let pauseUntil = 0
  return {
    /** True at the end. Skips ahead when nobody has anything to do. */
    isOver(): boolean {
      const { now } = scheduler
      const quietMs = now - sim.activeAt
      if (quietMs < QUIET_MS || now < lookedAt + 50 || now < pauseUntil) return false
      lookedAt = now
      if (scheduler.next('work') <= now + LEAD_MS) return false
      const fixed = scheduler.next('world')
      if (fixed <= now + LEAD_MS) {
        scheduler.wake(() => true)
        return false
      }
      const due = nextDue(sim)
      // A process that slept through a jump of its clock would not know of it for longer than any real one.
      const mayDoze = now > sim.jumpedAt + CLOCK_CHECK_MS
      if (due.at === Number.POSITIVE_INFINITY && mayEnd()) return true
      const waits = due.at <= now
      if (waits && quietMs < QUIET_DUE_MS) {
        scheduler.wake(({ type }) => !mayDoze || due.needs(type, now))
        return false
      }
      if (waits && sim.healed) {
        stuck += 1
        pauseUntil = now + STUCK_STEP_MS + stuck * STUCK_PAUSE_MS
        if (stuck > STUCK_MAX) throw new Violation('L3', `nobody does what is due: ${due.what}`)
      } else if (!waits) stuck = 0
      const target = waits
        ? Math.min(fixed, now + (sim.healed ? STUCK_STEP_MS : STUCK_FAULTY_MS))
        : Math.min(fixed, due.at)
      const all = !mayDoze || fixed <= target || stuck > STUCK_ALONE
      if (target > now + LEAD_MS + 700)
        scheduler.skipTo(target - LEAD_MS, ({ type }) => !all && !due.needs(type, target + LEAD_MS))
      return false
    },
  }
}

/** A payment under enough blocks that nobody confirmed yet. */
function isBuried(sim: Sim, row: Doc): boolean {
  const confirmAt = row['confirmAt']
  const chain = sim.chains.get(`${row['mode']}:${row['network']}`)
  if (chain !== undefined && isWired(chain)) return isFinal(chain, row)
  if (row['state'] !== 'detected' || typeof confirmAt !== 'number') return false
  return chain !== undefined && chain.blocks.length - 1 >= confirmAt
}

/** The same where a payment confirms in a final block. */
function isFinal(chain: SimChain, { state, block }: Doc): boolean {
  const at = block as { readonly height: number } | null | undefined
  if (state !== 'detected' || at == null) return false
  const place = chain.placeAt(at.height)
  return place >= chain.conditions.keptFrom && chain.blocks.length - 1 >= place + WIRE_FINAL_DEPTH
}

/** While faults go on, nobody may ever look for long enough: time goes on in such steps. */
const OUTCOME_STEP_MS = 600_000
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

/**
 * A payment that counts although its block left the chain: a scanner that went back to an older block finds out when it reads on. Where no node has
 * that height any more, nobody can find out: it is not confirmed, and the invoice that waits for it gets into the inbox.
 */
function isAbandoned(sim: Sim, row: Doc): boolean {
  const block = row['block'] as { readonly height: number; readonly hash: string } | null | undefined
  if (block == null || (row['state'] !== 'detected' && row['state'] !== 'confirmed')) return false
  const chain = sim.chains.get(`${row['mode']}:${row['network']}`)
  if (chain === undefined || chain.at(block.height)?.hash === block.hash) return false
  return row['state'] === 'confirmed' || !isUnprovable(chain, block)
}

interface DueWork {
  readonly at: number
  readonly what: string
  /** Processes of this type have something to do by then. */
  needs(type: string, by: number): boolean
}

/** Whose turn something is: the relays and dispatchers, the workers of invoices, or the scanners of a chain by its id. */
type Turn = 'webhooks' | 'invoices' | `${string}:${string}`

/** The next moment at which the product or a chain has something to do. */
function nextDue(sim: Sim): DueWork {
  const { now } = sim.scheduler
  const next = { at: Number.POSITIVE_INFINITY, what: '' }
  const turns = new Map<Turn, number>()
  const consider = (turn: Turn, at: number, what: () => string): void => {
    if (at < (turns.get(turn) ?? Number.POSITIVE_INFINITY)) turns.set(turn, at)
    if (at >= next.at) return
    next.at = at
    next.what = what()
  }
  const time = (value: unknown): number => (value instanceof Date ? value.getTime() : Number.POSITIVE_INFINITY)
  for (const row of sim.store.documents('webhook_deliveries')) {
    if (row['status'] === 'pending') consider('webhooks', time(row['dueAt']), () => `delivery ${row['_id']}`)
  }
  for (const row of sim.store.documents('invoices')) {
    consider('webhooks', time(row['outboxAt']), () => `outbox of ${row['_id']}`)
    consider('invoices', deadlineOf(sim, row), () => `deadline of ${row['_id']}`)
    if (sim.chains.has(String(row['actionChain'])))
      consider(`${row['actionChain']}` as Turn, deadlineOf(sim, row), () => `deadline of ${row['_id']}`)
  }
  for (const row of sim.store.documents('payments')) {
    const chain: Turn = `${row['mode']}:${row['network']}`
    consider('invoices', time(row['dirtyAt']), () => `payment ${row['key']}`)
    if (isBuried(sim, row)) consider(chain, now, () => `confirmation of ${row['key']}`)
    if (sim.healed && isAbandoned(sim, row))
      consider(chain, attentiveAt(sim, chain), () => `abandoned block of ${row['key']}`)
    if (isMissing(sim, row)) {
      mustEnd(sim, row)
      consider(chain, now + (sim.healed ? 1 : OUTCOME_STEP_MS), () => `fate of ${row['key']}`)
    }
  }
  for (const chain of sim.chains.values()) {
    chain.sync(now)
    const turn = chain.id as Turn
    const { network } = chain
    const confirmations =
      network === 'bitcoin' || network === 'ethereum' ? CONFIRMATIONS[network] : WIRE_FINAL_DEPTH + 1
    if (chain.isWaiting(confirmations)) consider(turn, chain.nextBlockAt, () => `block of ${chain.id}`)
    const [cursor] = sim.store.collection('chain_cursors').find({ _id: chain.id }, sim.store.now())
    const height = Number(cursor?.['height'] ?? 0)
    const branch = chain.at(height)?.hash
    if (cursor !== undefined && cursor['hash'] !== branch)
      consider(turn, attentiveAt(sim, chain.id), () => `fork of ${chain.id} at ${height}`)
    if (sim.scanPlans.get(chain.id)?.wasThrifty === true) {
      consider(turn, unfoundAt(sim, chain), () => `money on ${chain.id}, scanned to ${height}`)
      continue
    }
    const unread = chain.blocks.slice(chain.placeAt(height) + 1).some(({ txs }) => txs.length > 0)
    if (unread) consider(turn, now, () => `blocks of ${chain.id} above ${height}`)
  }
  return { ...next, needs: (type, by) => isNeeded(turns, type, by) }
}

/** Prices are read whenever money may come; nobody asks anything of the others unless somebody outside does. */
function isNeeded(turns: ReadonlyMap<Turn, number>, type: string, by: number): boolean {
  const isTurn = (turn: Turn): boolean => (turns.get(turn) ?? Number.POSITIVE_INFINITY) <= by
  if (type.startsWith('scanner-')) return isTurn(type.slice('scanner-'.length) as Turn)
  if (type === 'rates') return [...turns.keys()].some((turn) => turn !== 'webhooks' && isTurn(turn))
  return isTurn(type as Turn)
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
