import type { Ms } from '#shared/domain/invoice/model.ts'
import { formatDecimal } from '#shared/domain/money/decimal.ts'
import type { Quote } from '#shared/domain/rates/quote.ts'
import type { HttpGet, HttpGetResult } from '#shared/runtime/http/http-get.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { type FaultReason, type RateSource, SourceFault } from './rate-source.ts'

/** Polls one source at its own interval and caches its last quotes. */
export interface SourcePoller {
  /** Polls the source if it is due. Never throws; ends within the deadline. */
  poll(): Promise<void>
  /** The quotes of the last good response, fresh or not. */
  quotes(): readonly Quote[]
}

/** Dependencies of {@link createSourcePoller}. */
export type SourcePollerDeps = Uses<'clock' | 'logger' | 'metrics'> & {
  readonly http: Pick<HttpGet, 'get'>
  readonly source: RateSource
  /** Overrides the real host, for a local simulator. */
  readonly baseUrl: string
  /** Total time of one poll, milliseconds. */
  readonly timeoutMs: Ms
}

const MAX_BYTES = 4 * 1024 * 1024
const MAX_CACHE_AGE_SECONDS = 30
const FIRST_BACK_OFF_MS = 15_000
const LONGEST_BACK_OFF_MS = 5 * 60_000
/** Back-off for a host that bans or refuses this server; longer than for a temporary fault. */
const FORBIDDEN_BACK_OFF_MS = 15 * 60_000
const LONGEST_RETRY_AFTER_MS = 60 * 60_000
const FORBIDDEN: ReadonlySet<number> = new Set([401, 403, 418, 451])
/** A pair that a source does not list is requested again after this long. */
const UNKNOWN_PAIR_MS = 60 * 60_000
/** A feed that repeats every price over this many polls and this long is dead, whatever its timestamps are. */
const FROZEN_POLLS = 4
const FROZEN_MS = 60_000

/** Builds the poller of one source; failures are isolated and only lengthen its own pause. */
export function createSourcePoller(deps: SourcePollerDeps): SourcePoller {
  const { source, clock, logger, metrics } = deps
  const label = { source: source.name }
  const unknownPairs = new Map<string, Ms>()
  const frozen = createFrozenCheck()
  let held: readonly Quote[] = []
  let notBefore: Ms = 0
  let lastNow: Ms = 0
  let failures = 0

  async function poll(): Promise<void> {
    const now = clock.now()
    if (now < lastNow) goBack(lastNow - now)
    lastNow = now
    if (now < notBefore) return
    try {
      const signal = AbortSignal.timeout(deps.timeoutMs)
      const quotes = withoutDuplicates(await ask(knownPairs(now), signal))
      if (quotes.length === 0) throw new PollFault('empty', null, '')
      if (source.feed === 'book' && frozen(quotes, now)) throw new PollFault('frozen', null, '')
      held = quotes
      failures = 0
      notBefore = now + source.pollMs
      metrics.gauge('rate_source_up', 1, label)
    } catch (error) {
      fail(now, error)
    }
  }

  /** The store's clock was set back: pauses stay as long, and quotes as old, as they were. */
  function goBack(byMs: Ms): void {
    notBefore -= byMs
    held = held.map((quote) => ({ ...quote, receivedAt: quote.receivedAt - byMs }))
  }

  function knownPairs(now: Ms): readonly string[] {
    return source.pairs.filter((pair) => now >= (unknownPairs.get(pair) ?? 0))
  }

  async function ask(pairs: readonly string[], signal: AbortSignal): Promise<readonly Quote[]> {
    const result = await deps.http.get(`${deps.baseUrl}${source.path(pairs)}`, { signal, maxBytes: MAX_BYTES })
    if (result.outcome === 'answer' && source.refusesPair?.(result.body) === true && pairs.length > 0) {
      return askInHalves(pairs, signal)
    }
    const receivedAt = clock.now()
    return source.parse(bodyOf(result), receivedAt)
  }

  async function askInHalves(pairs: readonly string[], signal: AbortSignal): Promise<readonly Quote[]> {
    const [only] = pairs
    if (pairs.length === 1 && only !== undefined) {
      unknownPairs.set(only, clock.now() + UNKNOWN_PAIR_MS)
      logger.warn({ source: source.name, pair: only }, 'a price source no longer knows a pair')
      metrics.count('rate_unknown_pairs_total', label)
      return []
    }
    const middle = Math.ceil(pairs.length / 2)
    const halves = await Promise.all([ask(pairs.slice(0, middle), signal), ask(pairs.slice(middle), signal)])
    return halves.flat()
  }

  function fail(now: Ms, error: unknown): void {
    const fault = error instanceof PollFault || error instanceof SourceFault ? error : null
    const reason: FaultReason = fault?.reason ?? 'bad_body'
    const pauseMs = fault instanceof PollFault && fault.pauseMs !== null ? fault.pauseMs : backOffMs(failures)
    failures += 1
    notBefore = now + pauseMs
    // A frozen feed is known to be wrong now; other failures do not affect the cached quotes.
    if (reason === 'frozen') held = []
    metrics.gauge('rate_source_up', 0, label)
    metrics.count('rate_source_errors_total', { ...label, reason })
    const cause = fault === null ? error : fault.cause
    logger.warn({ source: source.name, reason, pauseMs, excerpt: fault?.excerpt, err: cause }, 'a price source failed')
  }

  return { poll, quotes: () => held }
}

/** A poll that failed before there was a body; `pauseMs` is set when the source requested a pause. */
class PollFault extends SourceFault {
  readonly pauseMs: Ms | null

  constructor(reason: FaultReason, pauseMs: Ms | null, body: string, cause?: unknown) {
    super(reason, body, cause)
    this.name = 'PollFault'
    this.pauseMs = pauseMs
  }
}

function bodyOf(result: HttpGetResult): string {
  if (result.outcome !== 'answer') throw new PollFault(result.outcome, null, '', result.cause)
  const { status, body } = result
  if (status === 200) {
    if (result.ageSeconds > MAX_CACHE_AGE_SECONDS) throw new PollFault('stale_cache', null, body)
    return body
  }
  const asked = result.retryAfterMs === null ? null : Math.min(result.retryAfterMs, LONGEST_RETRY_AFTER_MS)
  if (FORBIDDEN.has(status)) throw new PollFault('forbidden', asked ?? FORBIDDEN_BACK_OFF_MS, body)
  throw new PollFault(status === 429 ? 'rate_limited' : 'http_status', asked, body)
}

function backOffMs(failures: number): Ms {
  return Math.min(FIRST_BACK_OFF_MS * 2 ** Math.min(failures, 10), LONGEST_BACK_OFF_MS)
}

/** A response with two prices for one pair has none: it is unclear which one is meant. */
function withoutDuplicates(quotes: readonly Quote[]): readonly Quote[] {
  const counts = new Map<string, number>()
  for (const quote of quotes) counts.set(pairOf(quote), (counts.get(pairOf(quote)) ?? 0) + 1)
  return quotes.filter((quote) => counts.get(pairOf(quote)) === 1)
}

function pairOf(quote: Quote): string {
  return `${quote.base}/${quote.quote}`
}

function createFrozenCheck(): (quotes: readonly Quote[], now: Ms) => boolean {
  let last = ''
  let since: Ms = 0
  let polls = 0
  return (quotes, now) => {
    const prices = quotes.map((quote) => `${pairOf(quote)} ${formatDecimal(quote.price)}`).join('\n')
    if (prices !== last) {
      last = prices
      since = now
      polls = 0
    }
    polls += 1
    return polls >= FROZEN_POLLS && now - since >= FROZEN_MS
  }
}
