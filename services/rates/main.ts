import type { StartService } from '#services/context.ts'
import { createLeaseRepository } from '#shared/db/installation/lease-repository.ts'
import { createRateRepository } from '#shared/db/rates/rate-repository.ts'
import type { Pulse, Random } from '#shared/ports/runtime.ts'
import { createRatesWorker } from '#shared/queues/rates-queue.ts'
import { createHttpGet } from '#shared/runtime/http/http-get.ts'
import { createRateCycle } from './rate-cycle.ts'
import { createRateSources } from './rate-sources.ts'
import { createTripwire, TRIPWIRE_SOURCE, TRIPWIRE_URL } from './tripwire.ts'

const CYCLE_MS = 15_000
/** A cycle ends after a few time-outs at most; a loop silent for longer than this has died. */
const SILENCE_MAX_MS = 120_000
/** Sources must not see all installations at the same second. */
const JITTER = 0.2

/**
 * The `rates` process: a snapshot every 15 s ± 20 %, the first one at once, further ones on a kick of `cycle`. Any
 * number may run; a lease lets one of them work. A lost kick costs nothing, since the timer comes anyway.
 */
export const start: StartService = async (context) => {
  const logger = context.logger.child({ service: 'rates' })
  const { config, db, redis, clock, random, metrics, pulses } = context
  const ambient = { clock, random, metrics, logger, pulses }
  const http = createHttpGet({ userAgent: 'Paymesh-Rates/1.0' })
  const { sourceUrls } = config.rates
  const cycle = createRateCycle({
    ...ambient,
    rates: createRateRepository(db),
    leases: createLeaseRepository(db),
    sources: createRateSources({ ...ambient, http, sourceUrls }),
    tripwire: createTripwire({ http, clock, logger, baseUrl: sourceUrls[TRIPWIRE_SOURCE] ?? TRIPWIRE_URL }),
  })
  const timer = repeat(cycle.run, random, pulses?.start('rate-cycle', SILENCE_MAX_MS))
  // The timer is here and not in the queue's sweep, so that rates go on at their pace while Redis is away.
  const worker = createRatesWorker(redis, ambient, { runCycle: cycle.run, isDue: async () => false })
  return async () => {
    timer.stop()
    // Requests in flight end at once, so that the running cycle does not hold up the shutdown for its deadline.
    const stopped = cycle.stop()
    await http.close()
    await Promise.all([stopped, worker.stop()])
  }
}

function repeat(run: () => Promise<void>, random: Random, pulse: Pulse | undefined): { stop(): void } {
  let timer: NodeJS.Timeout | undefined
  let stopped = false
  const round = async (): Promise<void> => {
    pulse?.beat()
    await run()
    if (stopped) return
    const [byte = 0] = random.bytes(1)
    timer = setTimeout(() => void round(), CYCLE_MS * (1 - JITTER + (2 * JITTER * byte) / 255))
  }
  void round()
  return {
    stop() {
      stopped = true
      pulse?.end()
      clearTimeout(timer)
    },
  }
}
