import type { Ms } from '#shared/domain/invoice/model.ts'
import type { LeaseRepository } from '#shared/ports/leases.ts'
import type { CounterName } from '#shared/ports/metric-table.ts'
import type { Pulse, Runtime } from '#shared/ports/runtime.ts'
import { pauseUntil } from './pause-until.ts'

/** A repeated task that runs in one process at a time. */
export interface LeasedLoopOptions {
  /** Name of the lease, and of the heartbeat if there is one. */
  readonly id: string
  /** Longer than a round takes. */
  readonly leaseMs: Ms
  /** Between two rounds; a function is called after each. */
  readonly pauseMs: Ms | (() => Ms)
  /** After a failed round, so that a lasting fault does not flood the log. Default `pauseMs`. */
  readonly pauseAfterFailureMs?: Ms
  /** The loop sends heartbeats, and has died when it is silent for longer than this. Default: no heartbeat. */
  readonly silenceMaxMs?: Ms
  /** Counts failed rounds. */
  readonly failures: CounterName
  /** Log message of a failed round. */
  readonly failed: string
  /** One round under the lease. `signal` aborts when the loop ends; a long round sends heartbeats meanwhile. */
  round(signal: AbortSignal, pulse: Pulse | undefined): Promise<void>
}

/** A lease is held for this much longer than a round may take, so that it is not written again for each of many short rounds. */
const KEPT_MS = 10_000

/** How long a lease lasts from its last renewal. When the process that holds it is killed, no other one runs a round before that, milliseconds. */
export const leaseLifeMs = (leaseMs: Ms): Ms => leaseMs + KEPT_MS

/**
 * Runs rounds with pauses between them while this process holds the lease, and retries to acquire it while another one does. A failed
 * round is counted and logged, and the next one tries again. Returns a function that ends the loop and frees the lease.
 */
export function startLeasedLoop(
  deps: Runtime & { readonly leases: LeaseRepository },
  options: LeasedLoopOptions,
): () => Promise<void> {
  const { id, leaseMs, pauseMs, silenceMaxMs } = options
  const pauseOf = (): Ms => (typeof pauseMs === 'function' ? pauseMs() : pauseMs)
  const owner = deps.random.uuid()
  const stop = new AbortController()
  const pulse = silenceMaxMs === undefined ? undefined : deps.pulses?.start(id, silenceMaxMs)

  /** By this machine's monotonic clock, from before the last request: until then a round may begin without another one. */
  let keptUntil = Number.NEGATIVE_INFINITY

  const isHeld = async (): Promise<boolean> => {
    const requestedAt = performance.now()
    if (requestedAt < keptUntil) return true
    keptUntil = Number.NEGATIVE_INFINITY
    const isOurs = await deps.leases.acquire(id, owner, leaseLifeMs(leaseMs))
    if (isOurs) keptUntil = requestedAt + KEPT_MS
    return isOurs
  }

  const loop = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      let hasFailed = false
      pulse?.beat()
      try {
        if (await isHeld()) await options.round(stop.signal, pulse)
      } catch (cause) {
        // Whatever failed may have cost the lease.
        keptUntil = Number.NEGATIVE_INFINITY
        hasFailed = true
        deps.metrics.count(options.failures)
        deps.logger.error({ err: cause }, options.failed)
      }
      await pauseUntil((hasFailed ? options.pauseAfterFailureMs : undefined) ?? pauseOf(), stop.signal, deps.pauses)
    }
    await deps.leases.release(id, owner).catch((cause: unknown) => {
      deps.logger.warn({ err: cause, lease: id }, 'the lease of a loop was not freed')
    })
  }

  const running = loop()
  return async () => {
    stop.abort()
    pulse?.end()
    await running
  }
}
