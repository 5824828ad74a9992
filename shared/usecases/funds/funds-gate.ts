import { tooMany } from '#shared/contracts/errors.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import { SCARCE } from '#shared/domain/scarce.ts'
import { beginsWithin } from '#shared/usecases/requests/begins-within.ts'

const READINGS = 'readings of balances'
/** A page of balances is shown again for this long without a call to a node. */
const LIFE_MS = 30_000
/** Remembered pages of all workspaces. */
const KEPT_MAX = 500
/** Requests of a workspace that wait while one is read; readings of it within the window, failed ones included: at most 50,000 calls to nodes. */
const { waiting: WAITING_MAX, readings: READINGS_MAX, windowMs: WINDOW_MS } = SCARCE.balanceReadings.budget

/**
 * Bounds what people's reading costs: one reading at a time for each workspace, none twice within 30 s, at most 20 requests that
 * wait and 500 readings within any 10 minutes. Remembers results in this process only, where its bounds count; failures are not remembered.
 * `now` is monotonic milliseconds.
 */
export function createFundsGate(now: () => Ms = () => performance.now()) {
  const turns = new Map<string, { readonly last: Promise<unknown>; readonly inside: number }>()
  const kept = new Map<string, { readonly at: Ms; readonly result: unknown }>()
  const countReading = beginsWithin({ max: READINGS_MAX, windowMs: WINDOW_MS }, READINGS, now)

  function fresh(id: string): { readonly result: unknown } | null {
    const found = kept.get(id)
    return found !== undefined && now() - found.at < LIFE_MS ? found : null
  }

  function remember(id: string, result: unknown): void {
    kept.delete(id)
    kept.set(id, { at: now(), result })
    for (const oldest of kept.keys()) {
      if (kept.size <= KEPT_MAX) break
      kept.delete(oldest)
    }
  }

  function leave(workspaceId: string): void {
    const turn = turns.get(workspaceId)
    if (turn === undefined || turn.inside <= 1) turns.delete(workspaceId)
    else turns.set(workspaceId, { ...turn, inside: turn.inside - 1 })
  }

  return {
    /** Throws `RATE_LIMITED`, without `work`, beyond these bounds, and every error of `work`. */
    async run<T>(workspaceId: string, key: string, work: () => Promise<T>): Promise<T> {
      const id = `${workspaceId} ${key}`
      const known = fresh(id)
      if (known !== null) return known.result as T
      const { last, inside } = turns.get(workspaceId) ?? { last: Promise.resolve(), inside: 0 }
      // One of those inside is being read.
      if (inside > WAITING_MAX) throw tooMany(READINGS, LIFE_MS)
      const turn = last.then(async () => {
        const held = fresh(id)
        if (held !== null) return held.result as T
        countReading(workspaceId)
        const result = await work()
        remember(id, result)
        return result
      })
      const ended = turn.then(
        () => undefined,
        () => undefined,
      )
      turns.set(workspaceId, { last: ended, inside: inside + 1 })
      try {
        return await turn
      } finally {
        leave(workspaceId)
      }
    },
  }
}
