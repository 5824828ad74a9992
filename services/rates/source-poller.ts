import { errorCode } from '#shared/contracts/error-text.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { FailingSource } from '#shared/ports/rate-sources.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { BETWEEN_REQUESTS_MS, type Counts, createPairReader, type PairReaderDeps, PollFault } from './pair-reader.ts'
import { type FaultReason, SourceFault } from './rate-source.ts'
import { createReadingCache } from './reading-cache.ts'

/** Polls one source at its own interval and caches its last readings. */
export type SourcePoller = ReturnType<typeof createSourcePoller>

/** Dependencies of {@link createSourcePoller}. */
export type SourcePollerDeps = PairReaderDeps &
  Uses<'metrics'> & {
    /** Total time of one poll, milliseconds. */
    readonly timeoutMs: Ms
  }

const FIRST_BACK_OFF_MS = 15_000
const LONGEST_BACK_OFF_MS = 5 * 60_000

/** Builds the poller of one source; failures are isolated and only lengthen its own pause. */
export function createSourcePoller(deps: SourcePollerDeps) {
  const { source, clock, logger, metrics } = deps
  const label = { source: source.name }
  const cache = createReadingCache(source)
  const reader = createPairReader(deps, cache)
  let notBefore: Ms = 0
  let lastNow: Ms = 0
  let failures = 0
  let failing: FailingSource | null = null

  async function poll(): Promise<void> {
    const now = clock.now()
    if (now < lastNow) goBack(lastNow - now)
    lastNow = now
    if (now < notBefore) return
    const taught: Counts = { lists: 0, prices: 0, refusals: 0 }
    try {
      await reader.read(AbortSignal.timeout(deps.timeoutMs), now, taught)
      failures = 0
      failing = null
      notBefore = now + source.pollMs
      metrics.gauge('rate_source_up', 1, label)
    } catch (error) {
      // A search that is interrupted, by the deadline or by the source's limit, goes on with the next poll.
      if (taught.lists > 0 && !isFinal(error)) notBefore = now + BETWEEN_REQUESTS_MS
      else fail(now, error)
    }
  }

  /** The store's clock was set back: pauses stay as long, and quotes as old, as they were. */
  function goBack(byMs: Ms): void {
    notBefore -= byMs
    reader.goBack(byMs)
    if (failing !== null) failing = { ...failing, since: failing.since - byMs }
    cache.shift(byMs)
  }

  function fail(now: Ms, error: unknown): void {
    const fault = error instanceof SourceFault ? error : null
    const reason: FaultReason = fault?.reason ?? (isAbort(error) ? 'timeout' : 'bad_body')
    const pauseMs = fault instanceof PollFault && fault.pauseMs !== null ? fault.pauseMs : backOffMs(failures)
    failures += 1
    notBefore = now + pauseMs
    // A frozen feed is known to be wrong now; other failures do not affect the cached quotes.
    if (reason === 'frozen') cache.drop(Object.keys(source.pairs), 'frozen')
    metrics.gauge('rate_source_up', 0, label)
    metrics.count('rate_source_errors_total', { ...label, reason })
    const cause = fault === null ? error : fault.cause
    const code = errorCode(cause)
    const words = code === null ? reason : `${reason} (${code})`
    failing = { source: source.name, reason: words, since: failing?.since ?? now }
    logger.warn({ source: source.name, reason, pauseMs, excerpt: fault?.excerpt, err: cause }, 'a price source failed')
  }

  return {
    /** Polls the source if it is due. Never throws; ends within the deadline. */
    poll,
    /** One reading for each pair that the source is expected to price: the last price, fresh or not, or why there is none. */
    readings: cache.all,
    /** Why and since when it fails; null while it answers. */
    failing: (): FailingSource | null => failing,
  }
}

/** The source asked for a pause, repeats itself or has nothing: what was learnt in this poll does not change that. */
function isFinal(error: unknown): boolean {
  return error instanceof PollFault && (error.pauseMs !== null || ['frozen', 'empty', 'refused'].includes(error.reason))
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && (error.name === 'AbortError' || error.name === 'TimeoutError')
}

function backOffMs(failures: number): Ms {
  return Math.min(FIRST_BACK_OFF_MS * 2 ** Math.min(failures, 10), LONGEST_BACK_OFF_MS)
}
