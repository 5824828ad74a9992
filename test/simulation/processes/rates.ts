import { createRateCycle } from '#services/rates/rate-cycle.ts'
import { createLeaseRepository } from '#shared/db/installation/lease-repository.ts'
import { createRateRepository } from '#shared/db/rates/rate-repository.ts'
import type { Program } from '../world/supervisor.ts'
import { surround } from './surroundings.ts'

const CYCLE_MS = 15_000
const JITTER = 0.2

/** The `rates` process: the product's own cycle over the simulated market. */
export const ratesProgram: Program = async (sim, running) => {
  const around = await surround(sim, running)
  const { db, clock, random, logger, metrics, luck, call } = around
  const cycle = createRateCycle({
    clock,
    random,
    logger,
    metrics,
    rates: createRateRepository(db),
    leases: createLeaseRepository(db),
    sources: {
      poll: () =>
        call({ what: 'poll rates', latencyMs: 300, crash: 0, effect: () => sim.market.quotes(sim.scheduler.now) }),
    },
    tripwire: { agrees: async () => false },
  })
  const round = async (): Promise<void> => {
    await cycle.run()
    setTimeout(() => void round(), CYCLE_MS * (1 - JITTER + 2 * JITTER * luck.next()))
  }
  void round()
}
