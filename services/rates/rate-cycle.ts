import type { RateRepository } from '#shared/db/rates/rate-repository.ts'
import type { FailingSource, RateSources } from '#shared/ports/rate-sources.ts'
import type { Runtime } from '#shared/ports/runtime.ts'
import { type PublishRatesDeps, publishRates } from '#shared/usecases/rates/publish-rates.ts'
import type { Uses } from '#shared/usecases/uses.ts'

/** One process at a time fetches and publishes; the others stand by. */
export type RateCycle = ReturnType<typeof createRateCycle>

/** Dependencies of {@link createRateCycle}. */
export type RateCycleDeps = Runtime &
  PublishRatesDeps &
  Uses<'leases'> & {
    readonly rates: Pick<RateRepository, 'failing' | 'recordFailing'>
    readonly sources: RateSources
  }

/** Three cycles: a dead holder is replaced well before its last snapshot expires. */
const LEASE_MS = 45_000
const LEASE_ID = 'rates'

/** Builds the cycle of this process: take the lease, poll every source, publish the agreed prices. */
export function createRateCycle(deps: RateCycleDeps) {
  const owner = deps.random.uuid()
  let tail = Promise.resolve()
  let stopping = false
  let recorded: readonly FailingSource[] | null = null

  /** A process that takes over keeps since when a source fails. */
  async function recordFailing(): Promise<void> {
    const before = recorded ?? (await deps.rates.failing())
    const now = deps.sources.failing().map((one) => {
      const known = before.find(({ source }) => source === one.source)
      return { ...one, since: Math.min(one.since, known?.since ?? one.since) }
    })
    if (JSON.stringify(now) !== JSON.stringify(before)) await deps.rates.recordFailing(now)
    recorded = now
  }

  async function cycle(): Promise<void> {
    if (stopping) return
    const startedAt = performance.now()
    try {
      if (!(await deps.leases.acquire(LEASE_ID, owner, LEASE_MS))) return
      const readings = await deps.sources.poll()
      await recordFailing()
      if (!stopping) await publishRates(deps, readings)
    } catch (error) {
      deps.metrics.count('rate_cycles_failed_total')
      deps.logger.error({ err: error }, 'rate cycle failed')
    }
    deps.metrics.observe('rate_cycle_seconds', (performance.now() - startedAt) / 1_000)
  }

  return {
    /** Runs one cycle after those already running; resolves when it ended. Never throws and never overlaps another. */
    run(): Promise<void> {
      tail = tail.then(cycle)
      return tail
    },

    /** Lets the running cycle end, starts no more and frees the lease. */
    async stop(): Promise<void> {
      stopping = true
      await tail
      try {
        await deps.leases.release(LEASE_ID, owner)
      } catch (error) {
        deps.logger.warn({ err: error }, 'the rates lease could not be released and will expire')
      }
    },
  }
}
