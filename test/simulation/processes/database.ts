import mongoose from 'mongoose'
import type { Database } from '#shared/db/connection/connect.ts'
import type { Prng } from '../kernel/prng.ts'
import type { SimProcess } from '../kernel/sim-process.ts'
import type { Execute } from '../store/execute.ts'
import { PAST_MS } from '../store/memory-store.ts'
import { openSimulatedDatabase } from '../store/simulated-database.ts'
import type { createPortCaller } from '../world/port-call.ts'
import type { Sim } from '../world/sim.ts'

const { MongoNetworkError, MongoServerError } = mongoose.mongo

/** Collections whose writes no crash is aimed at: they come in hundreds and hold no state of anybody's money. */
const HEARTBEATS = new Set(['leases', 'chain_cursors', 'rate_snapshots', ''])

/** Rights are read at each request, from whichever primary answers: one that was suspended may know a key that was revoked since. */
const RIGHTS = new Set(['api_keys', 'workspaces'])

/** Below the five seconds for which the product reads again what must be there. */
const LAG_MAX_MS = 4_000

/** A relay may send its claimed rows up to 6 s after it read their endpoints, so an answer that takes this long comes in time for that. */
const BEHIND_MS = [1_500, 5_000] as const

/** The store as one process reaches it: late, sometimes not at all, sometimes without an answer. */
export function openProcessDatabase(
  sim: Sim,
  process: SimProcess,
  call: ReturnType<typeof createPortCaller>,
  luck: Prng,
): Database {
  const isTender = process.type.startsWith('scanner') || process.type === 'invoices'
  let readClock = false
  /** When the store last answered this process: a primary that is suspended later answers the next reads by what was then. */
  let answeredAt = Number.POSITIVE_INFINITY
  const exec: Execute = (operation, run) => {
    const { kind, collection, name, steps } = operation
    const { mix } = sim
    // Clocks that never go wrong are asked once: half of all events would be nothing else.
    if (name === 'hello' && sim.clocksHold && readClock) return Promise.resolve(run())
    readClock ||= name === 'hello'
    const isWrite = kind === 'write'
    const heartbeat = HEARTBEATS.has(collection)
    const slow = luck.chance(mix.slowStore) && name !== 'hello'
    const lags = isWrite && !heartbeat && sim.storeLagsUntil <= sim.scheduler.now && luck.chance(mix.staleRead)
    const lagMs = lags ? luck.next() ** 2 * LAG_MAX_MS : 0
    const refused = sim.storeDown || luck.chance(isWrite ? mix.refusedWrite : mix.refusedRead)
    const isPast =
      kind === 'read' &&
      collection !== '' &&
      !RIGHTS.has(collection) &&
      operation.isNewest !== true &&
      mix.oldPrimary > 0 &&
      luck.chance(mix.oldPrimary)
    const { now } = sim.scheduler
    const frozenAt = isPast ? Math.max(answeredAt, now - PAST_MS) : Number.POSITIVE_INFINITY
    const isRelayed = isWrite && collection === 'webhook_deliveries' && name === 'insertMany'
    const behindMs = isRelayed && luck.chance(mix.deletedBehind) ? luck.between(...BEHIND_MS) : 0
    return call({
      what: `${collection}.${name}`,
      latencyMs: slow
        ? 20 + luck.next() ** 3 * 4_000
        : (0.3 + luck.next() * 1.7) * (name === 'hello' ? 1 : mix.storeDistance),
      crash: isWrite && !heartbeat ? mix.crashPerWrite : mix.crashPerRead / 4,
      effect: () => {
        if (refused || sim.storeDown) {
          if (!sim.storeDown) sim.fault('F3 store refuses')
          throw luckyError(luck)
        }
        if (isWrite && luck.chance(mix.lostReply)) {
          sim.fault('F2 reply lost')
          try {
            run(steps === 1 ? undefined : luck.between(0, steps ?? 3))
          } catch {
            // What it would have refused is lost with the answer.
          }
          throw new MongoNetworkError('simulated: the answer was lost')
        }
        if (lags) lagFor(sim, lagMs)
        if (frozenAt < now) sim.fault('F20 old primary')
        const outcome = frozenAt < now ? sim.store.asOf(frozenAt, run) : run()
        if (behindMs > 0) deleteBehind(sim)
        answeredAt = sim.scheduler.now
        return outcome
      },
      // An answer to a write waits for the majority.
      held: () => Math.max(behindMs, isWrite ? sim.storeLagsUntil - sim.scheduler.now : 0, 0),
      show: (outcome) => show(outcome),
      tender: isTender && (collection === 'invoices' || collection === 'payments') ? 15 : 1,
    })
  }
  return openSimulatedDatabase(sim.store, exec)
}

/** F16: the endpoint of a row that was inserted claimed is deleted before the relay sees that the row is stored. */
function deleteBehind(sim: Sim): void {
  const claimed = sim.store
    .documents('webhook_deliveries')
    .filter((row) => row['leaseToken'] !== null && row['claims'] === 1)
  const endpointId = claimed.at(-1)?.['endpointId']
  if (typeof endpointId === 'string') sim.deleteEndpoint(endpointId)
}

/** F4: for a while the majority does not get the writes, and who reads at majority sees the past. */
function lagFor(sim: Sim, ms: number): void {
  sim.fault('F4 majority lags')
  sim.store.holdBack()
  sim.storeLagsUntil = sim.scheduler.now + ms
  sim.scheduler.at(ms, 'work', null, 'majority has all', () => sim.store.catchUp())
}

function luckyError(luck: Prng): Error {
  if (luck.chance(0.5)) return new MongoNetworkError('simulated: no primary')
  return new MongoServerError({ message: 'simulated: not primary', code: 10_107, codeName: 'NotWritablePrimary' })
}

/** The outcome of a command in a few letters, the same for the same outcome. */
function show(outcome: unknown): string {
  if (outcome === null || typeof outcome !== 'object') return String(outcome)
  if (Array.isArray(outcome)) return `${outcome.length}`
  const facts = outcome as Readonly<Record<string, unknown>>
  const counts = ['matchedCount', 'modifiedCount', 'insertedCount', 'upsertedCount', 'deletedCount']
    .map((count) => facts[count])
    .filter((count) => count !== undefined)
  return counts.length > 0 ? counts.join('/') : `${String(facts['_id'] ?? '')} ${String(facts['version'] ?? '')}`
}
