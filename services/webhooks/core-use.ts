import type { Ms } from '#shared/domain/invoice/model.ts'
import type { Stopwatch } from '#shared/ports/timers.ts'

/** JavaScript runs on one core: above this part of it the process has no time left for more. */
const FULL_ABOVE = 0.8
const MEASURED_FOR_MS: Ms = 1_000

/**
 * Whether this process used more than four fifths of a core over the last second or longer, measured between two calls. Processor time counts,
 * not time that passed: where others have the cores, more processes are no help. `cpuMs()` is the processor time of the process so far.
 */
export function createCoreUse(stopwatch: Stopwatch, cpuMs: () => number = processCpuMs): () => boolean {
  let last = { at: stopwatch(), cpu: cpuMs() }
  let isFull = false
  return () => {
    const at = stopwatch()
    if (at - last.at < MEASURED_FOR_MS) return isFull
    const cpu = cpuMs()
    isFull = cpu - last.cpu > FULL_ABOVE * (at - last.at)
    last = { at, cpu }
    return isFull
  }
}

function processCpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}
