import { setTimeout as sleep } from 'node:timers/promises'
import type { Ms } from '#shared/domain/invoice/model.ts'
import { type DropReason, isQuote, type Reading } from '#shared/domain/rates/quote.ts'
import type { HttpGet, HttpGetResult } from '#shared/runtime/http/http-get.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { createFrozenCheck } from './frozen-check.ts'
import { createPairSearch } from './pair-search.ts'
import { type FaultReason, type Parsed, type RateSource, SourceFault } from './rate-source.ts'

/** Polls one source at its own interval and caches its last readings. */
export interface SourcePoller {
  /** Polls the source if it is due. Never throws; ends within the deadline. */
  poll(): Promise<void>
  /** One reading for each pair that the source is expected to price: the last price, fresh or not, or why there is none. */
  readings(): readonly Reading[]
}

/** Dependencies of {@link createSourcePoller}. */
export type SourcePollerDeps = Uses<'clock' | 'logger' | 'metrics'> & {
  readonly http: Pick<HttpGet, 'get'>
  readonly source: RateSource
  /** Overrides the real host, for a local simulator. */
  readonly baseUrl: string
  /** Total time of one poll, milliseconds. */
  readonly timeoutMs: Ms
  /** Waits between two requests of a poll, and rejects when the signal ends it. Default: a timer. */
  readonly pause?: (ms: Ms, signal: AbortSignal) => Promise<unknown>
}

const MAX_BYTES = 4 * 1024 * 1024
const MAX_CACHE_AGE_SECONDS = 30
const FIRST_BACK_OFF_MS = 15_000
const LONGEST_BACK_OFF_MS = 5 * 60_000
/** Back-off for a host that bans or refuses this server; longer than for a temporary fault. */
const FORBIDDEN_BACK_OFF_MS = 15 * 60_000
const LONGEST_RETRY_AFTER_MS = 60 * 60_000
const FORBIDDEN: ReadonlySet<number> = new Set([401, 403, 418, 451])
/** Kraken allows one public call a second and address (support.kraken.com, "API rate limits", read 2026-11-29); no source allows less. */
const BETWEEN_REQUESTS_MS = 1_000
/** What a source lists is read once a day, and earlier when it refuses a pair. */
const LISTING_MS = 24 * 60 * 60_000
const LISTING_AGAIN_MS = 10 * 60_000

/** What one poll taught: lists that were answered or narrowed down, prices, and refused lists. */
interface Taught {
  lists: number
  prices: number
  refusals: number
}

/** Builds the poller of one source; failures are isolated and only lengthen its own pause. */
export function createSourcePoller(deps: SourcePollerDeps): SourcePoller {
  const { source, clock, logger, metrics } = deps
  const label = { source: source.name }
  const pause = deps.pause ?? ((ms, signal) => sleep(ms, undefined, { signal }))
  const search = createPairSearch(Object.keys(source.pairs))
  const isFrozen = createFrozenCheck(source.frozenAfterMs)
  const cached = new Map<string, Reading>(everyPair('no_answer'))
  let notBefore: Ms = 0
  let lastNow: Ms = 0
  let failures = 0
  let listingDue: Ms = source.listing === undefined ? Number.POSITIVE_INFINITY : 0
  let listedAt: Ms = Number.NEGATIVE_INFINITY

  async function poll(): Promise<void> {
    const now = clock.now()
    if (now < lastNow) goBack(lastNow - now)
    lastNow = now
    if (now < notBefore) return
    const taught = { lists: 0, prices: 0, refusals: 0 }
    try {
      await readAll(AbortSignal.timeout(deps.timeoutMs), now, taught)
      failures = 0
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
    listingDue -= byMs
    listedAt -= byMs
    for (const [pair, reading] of cached) {
      if (isQuote(reading)) cached.set(pair, { ...reading, receivedAt: reading.receivedAt - byMs })
    }
  }

  /** Requests the pairs, in one list or, while one of them is refused, in several; and what the source lists when that is due. */
  async function readAll(signal: AbortSignal, now: Ms, taught: Taught): Promise<void> {
    let isFirst = true
    let pulse: Parsed['pulse'] = null
    for (let list = search.next(now); list !== null; list = search.next(now)) {
      if (!isFirst) await pause(BETWEEN_REQUESTS_MS, signal)
      isFirst = false
      const result = await deps.http.get(`${deps.baseUrl}${source.path(list)}`, { signal, maxBytes: MAX_BYTES })
      if (result.outcome === 'answer' && source.refusesPair?.(result.body) === true) {
        search.refused(now)
        taught.refusals += 1
        if (list.length > 1) taught.lists += 1
        if (now - listedAt >= LISTING_AGAIN_MS) listingDue = Math.min(listingDue, now)
      } else {
        const parsed = source.parse(bodyOf(result), clock.now())
        if (parsed.readings.length === 0) throw new PollFault('empty', null, '')
        pulse = parsed.pulse ?? pulse
        taught.prices += keep(list, parsed.readings)
        search.answered()
        taught.lists += 1
      }
      if (now >= listingDue) await readListing(signal, now)
    }
    dropUnknown()
    if (taught.prices === 0) throw new PollFault(taught.refusals > 0 ? 'refused' : 'empty', null, '')
    if (isFrozen([...cached.values()], pulse, now)) throw new PollFault('frozen', null, '')
  }

  /** Replaces the readings of these pairs; a response with two prices for one pair has none. Returns how many prices there are. */
  function keep(list: readonly string[], readings: readonly Reading[]): number {
    const absent = source.listing === undefined ? 'unlisted' : 'missing'
    let prices = 0
    for (const name of list) {
      const pair = source.pairs[name]
      if (pair === undefined) continue
      const [base, quote] = pair
      const own = readings.filter((reading) => reading.base === base && reading.quote === quote)
      const [reading = { source: source.name, base, quote, because: absent as DropReason }] = own
      cached.set(name, own.length > 1 ? { source: source.name, base, quote, because: 'duplicate' } : reading)
      if (own.length === 1 && isQuote(reading)) prices += 1
    }
    return prices
  }

  function dropUnknown(): void {
    for (const name of search.unknown()) {
      const reading = cached.get(name)
      if (reading === undefined || ('because' in reading && reading.because === 'unlisted')) continue
      const { base, quote } = reading
      cached.set(name, { source: source.name, base, quote, because: 'unlisted' })
      logger.warn({ source: source.name, pair: name }, 'a price source does not list a pair')
    }
  }

  /** A list that cannot be read changes nothing. */
  async function readListing(signal: AbortSignal, now: Ms): Promise<void> {
    listingDue = now + LISTING_AGAIN_MS
    listedAt = now
    try {
      await pause(BETWEEN_REQUESTS_MS, signal)
      const path = source.listing?.path ?? ''
      const result = await deps.http.get(`${deps.baseUrl}${path}`, { signal, maxBytes: MAX_BYTES })
      const names = source.listing?.parse(bodyOf(result)) ?? new Set<string>()
      if (!search.listed(names)) throw new SourceFault('empty', '')
      listingDue = now + LISTING_MS
    } catch (error) {
      logger.warn({ source: source.name, err: error }, 'the list of pairs of a price source could not be read')
    }
  }

  function fail(now: Ms, error: unknown): void {
    const fault = error instanceof SourceFault ? error : null
    const reason: FaultReason = fault?.reason ?? (isAbort(error) ? 'timeout' : 'bad_body')
    const pauseMs = fault instanceof PollFault && fault.pauseMs !== null ? fault.pauseMs : backOffMs(failures)
    failures += 1
    notBefore = now + pauseMs
    // A frozen feed is known to be wrong now; other failures do not affect the cached quotes.
    if (reason === 'frozen') for (const [name, reading] of everyPair('frozen')) cached.set(name, reading)
    metrics.gauge('rate_source_up', 0, label)
    metrics.count('rate_source_errors_total', { ...label, reason })
    const cause = fault === null ? error : fault.cause
    logger.warn({ source: source.name, reason, pauseMs, excerpt: fault?.excerpt, err: cause }, 'a price source failed')
  }

  function everyPair(because: DropReason): readonly (readonly [string, Reading])[] {
    return Object.entries(source.pairs).map(([name, [base, quote]]) => [
      name,
      { source: source.name, base, quote, because },
    ])
  }

  return { poll, readings: () => [...cached.values()] }
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

/** The source asked for a pause, repeats itself or has nothing: what was learnt in this poll does not change that. */
function isFinal(error: unknown): boolean {
  return error instanceof PollFault && (error.pauseMs !== null || ['frozen', 'empty', 'refused'].includes(error.reason))
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && (error.name === 'AbortError' || error.name === 'TimeoutError')
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
