import type { ServiceParts, Stop } from '#services/context.ts'
import type { RateSources } from '#shared/ports/rate-sources.ts'
import type { Pulse, Random } from '#shared/ports/runtime.ts'
import type { PublishRatesDeps } from '#shared/usecases/rates/publish-rates.ts'
import { createRateCycle } from './rate-cycle.ts'

const CYCLE_MS = 15_000
/** A cycle ends after a few time-outs at most; a loop silent for longer than this has died. */
const SILENCE_MAX_MS = 120_000
/** Keeps installations from polling sources in the same second. */
const JITTER = 0.2

/** The parts of the `rates` process. */
export interface RatesParts extends ServiceParts {
  readonly sources: RateSources
  readonly jumpConfirmation: PublishRatesDeps['jumpConfirmation']
  /** Aborts requests in flight, so that a running cycle does not delay the shutdown until its deadline. */
  closeSources(): Promise<void>
}

/** Runs the rate cycle on a timer, so that rates keep their interval while Redis is unavailable. Stopping closes the sources. */
export function assembleRates(parts: RatesParts): Stop {
  const cycle = createRateCycle({ ...parts, rates: parts.rateSnapshots })
  const timer = repeat(cycle.run, parts.random, parts.pulses?.start('rate-cycle', SILENCE_MAX_MS))
  return async () => {
    timer.stop()
    const stopped = cycle.stop()
    await parts.closeSources()
    await stopped
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
