import type { DeliveryOutcome } from '#shared/ports/deliveries.ts'
import type { Uses } from '#shared/usecases/uses.ts'

/**
 * A full batch is written at once; a smaller one waits this long for more rows, and for the write before it. The receiver already has
 * its event, so the wait delays nothing; a process killed meanwhile causes one more send of the outcomes not yet written.
 */
const BATCH_ROWS = 32
const BATCH_WAIT_MS = 40
/** Pauses between tries of a failed write; together well within the lease of 20 s less the 10 s of the request. */
const RETRY_AFTER_MS = [100, 500, 2_000] as const

export type OutcomeRecorderDeps = Uses<'deliveries' | 'after' | 'stopwatch' | 'logger' | 'metrics'>

/** Writes the outcomes of many endpoints together: one majority write for up to 32 rows instead of one for each. */
export interface OutcomeRecorder {
  /**
   * Resolves true once the outcome is durable, false when every write failed. Then the row falls due again
   * when its lease ends and is sent once more under the same ids; no attempt is consumed.
   */
  record(outcome: DeliveryOutcome): Promise<boolean>
}

interface Waiting {
  readonly outcome: DeliveryOutcome
  /** Stopwatch reading when the outcome was known. */
  readonly knownAt: number
  readonly done: (recorded: boolean) => void
}

/** A recorder for one process; every dispatcher lane shares it. */
export function createOutcomeRecorder(deps: OutcomeRecorderDeps): OutcomeRecorder {
  let waiting: Waiting[] = []
  let writes = 0
  let cancelTimer: (() => void) | null = null
  const flush = (): void => {
    cancelTimer?.()
    cancelTimer = null
    const batch = waiting
    waiting = []
    if (batch.length === 0) return
    writes += 1
    void write(deps, batch).finally(() => {
      writes -= 1
      schedule()
    })
  }
  const schedule = (): void => {
    if (waiting.length >= BATCH_ROWS) flush()
    else if (waiting.length > 0 && writes === 0) cancelTimer ??= deps.after(BATCH_WAIT_MS, flush)
  }
  return {
    record: (outcome) =>
      new Promise((done) => {
        waiting.push({ outcome, knownAt: deps.stopwatch(), done })
        schedule()
      }),
  }
}

async function write(deps: OutcomeRecorderDeps, batch: readonly Waiting[]): Promise<void> {
  for (const pauseMs of [...RETRY_AFTER_MS, null]) {
    try {
      // Repeating it is harmless: a row whose outcome was written no longer holds the lease token.
      await deps.deliveries.finish(batch.map((entry) => withPauseLeft(entry, deps.stopwatch())))
      for (const entry of batch) entry.done(true)
      return
    } catch (error) {
      deps.logger.warn({ err: error, rows: batch.length, pauseMs }, 'webhook outcomes could not be written')
      if (pauseMs === null) break
      await new Promise<void>((resolve) => deps.after(pauseMs, resolve))
    }
  }
  deps.metrics.count('webhook_outcomes_lost_total', {}, batch.length)
  for (const entry of batch) entry.done(false)
}

/**
 * The pause began when the outcome was known. The time since is measured in this process, so clock skew between
 * hosts has no effect; below zero the row is due before it is written.
 */
function withPauseLeft({ outcome, knownAt }: Waiting, readNow: number): DeliveryOutcome {
  if (outcome.retryAfterMs === null) return outcome
  return { ...outcome, retryAfterMs: Math.ceil(outcome.retryAfterMs - (readNow - knownAt)) }
}
