import type { Pulse, Pulses } from '#shared/ports/runtime.ts'

/** Checks whether the loops of this process still make progress. */
export interface Liveness extends Pulses {
  /** Loops that were silent for longer than allowed, with the reason in words; empty while all is well. */
  silent(): Readonly<Record<string, string>>
  stop(): void
}

export interface LivenessOptions {
  /** True while a loop has a valid reason to wait: an unavailable store must not cause every process to be killed. */
  readonly isExcused: () => boolean
  /** Length of one tick. Default 1 s. */
  readonly tickMs?: number
}

const TICK_MS = 1_000

/**
 * Counts silence in ticks of its own timer instead of reading a clock: a process suspended for an hour has not been
 * silent for an hour, and a blocked event loop fails the probe because it does not respond.
 */
export function createLiveness(options: LivenessOptions): Liveness {
  const { tickMs = TICK_MS } = options
  const loops = new Set<{ readonly name: string; readonly silenceMaxMs: number; silentMs: number }>()
  const tick = (): void => {
    const excused = options.isExcused()
    for (const loop of loops) loop.silentMs = excused ? 0 : loop.silentMs + tickMs
  }
  const timer = setInterval(tick, tickMs)
  timer.unref()
  return {
    start: (name, silenceMaxMs): Pulse => {
      const loop = { name, silenceMaxMs, silentMs: 0 }
      loops.add(loop)
      return {
        beat: () => {
          loop.silentMs = 0
        },
        end: () => void loops.delete(loop),
      }
    },
    silent: () =>
      Object.fromEntries(
        [...loops]
          .filter((loop) => loop.silentMs > loop.silenceMaxMs)
          .map((loop) => [loop.name, `no progress for ${Math.round(loop.silentMs / 1_000)} s`]),
      ),
    stop: () => clearInterval(timer),
  }
}
