import { setTimeout as sleep } from 'node:timers/promises'
import { errorCode } from '#shared/contracts/error-text.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import { formatDecimal } from '#shared/domain/money/money.ts'
import { isQuote, type Quote, type Reading } from '#shared/domain/rates/quote.ts'
import type { FailingSource } from '#shared/ports/rate-sources.ts'
import type { HttpGet, HttpGetResult } from '#shared/runtime/http/http-get.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { type FaultReason, type ParsedResponse, type Pulse, type RateSource, SourceFault } from './rate-source.ts'
import { createReadingCache, type ReadingCache } from './reading-cache.ts'

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

/** Dependencies of {@link createPairReader}. */
type PairReaderDeps = Uses<'clock' | 'logger'> & {
  readonly http: Pick<HttpGet, 'get'>
  readonly source: RateSource
  /** Overrides the real host, for a local simulator. */
  readonly baseUrl: string
  /** Waits between two requests of a poll, and rejects when the signal ends it. Default: a timer. */
  readonly pause?: ((ms: Ms, signal: AbortSignal) => Promise<unknown>) | undefined
}

/** What one poll taught: lists that were answered or narrowed down, prices, and refused lists. */
interface Counts {
  lists: number
  prices: number
  refusals: number
}

const MAX_BYTES = 4 * 1024 * 1024
const MAX_CACHE_AGE_SECONDS = 30
/** Back-off for a host that bans or refuses this server; longer than for a temporary fault. */
const FORBIDDEN_BACK_OFF_MS = 15 * 60_000
const LONGEST_RETRY_AFTER_MS = 60 * 60_000
const FORBIDDEN: ReadonlySet<number> = new Set([401, 403, 418, 451])
/** Kraken allows one public call a second and address (support.kraken.com, "API rate limits", read 2026-11-29); no source allows less. */
const BETWEEN_REQUESTS_MS = 1_000
/** What a source lists is read once a day, earlier when it refuses a pair, and each hour while it lacks one of ours: a market may be closed for minutes only. */
const LISTING_MS = 24 * 60 * 60_000
const LISTING_AGAIN_MS = 10 * 60_000

/** Builds the reader of one source. Requests are a second apart. */
function createPairReader(
  { source, clock, logger, http, baseUrl, pause = timer }: PairReaderDeps,
  cache: ReadingCache,
) {
  const search = createPairSearch(Object.keys(source.pairs))
  const isFrozen = createFrozenCheck(source.frozenAfterMs)
  let listingDue: Ms = source.listing === undefined ? Number.POSITIVE_INFINITY : 0
  let listedAt: Ms = Number.NEGATIVE_INFINITY
  const get = (path: string, signal: AbortSignal) => http.get(`${baseUrl}${path}`, { signal, maxBytes: MAX_BYTES })

  /** Requests one list; returns its pulse. */
  async function readList(
    list: readonly string[],
    signal: AbortSignal,
    now: Ms,
    taught: Counts,
  ): Promise<ParsedResponse['pulse']> {
    const result = await get(source.path(list), signal)
    if (result.outcome === 'answer' && source.refusesPair?.(result.body) === true) {
      search.refused(now)
      taught.refusals += 1
      if (list.length > 1) taught.lists += 1
      if (now - listedAt >= LISTING_AGAIN_MS && source.listing !== undefined) listingDue = now
      return null
    }
    const { readings, pulse } = source.parse(bodyOf(result), clock.now())
    if (readings.length === 0) throw new PollFault('empty', null, '')
    taught.prices += cache.keep(list, readings)
    taught.lists += 1
    search.answered()
    return pulse
  }

  /** A list that cannot be read changes nothing. */
  async function readListing(signal: AbortSignal, now: Ms): Promise<void> {
    listingDue = now + LISTING_AGAIN_MS
    listedAt = now
    try {
      await pause(BETWEEN_REQUESTS_MS, signal)
      const names = source.listing?.parse(bodyOf(await get(source.listing.path, signal))) ?? new Set<string>()
      if (!search.listed(names)) throw new SourceFault('empty', '')
      listingDue = now + (search.unknown().size > 0 ? UNKNOWN_MS : LISTING_MS)
    } catch (error) {
      logger.warn({ source: source.name, err: error }, 'the list of pairs of a price source could not be read')
    }
  }

  return {
    /**
     * Requests the pairs, in one list or, while one of them is refused, in several; and what the source lists when that is due. `taught` counts what was learnt,
     * also when it throws: a {@link SourceFault}, or what ended a pause.
     */
    async read(signal: AbortSignal, now: Ms, taught: Counts): Promise<void> {
      let isFirst = true
      let pulse: ParsedResponse['pulse'] = null
      for (let list = search.next(now); list !== null; list = search.next(now)) {
        if (!isFirst) await pause(BETWEEN_REQUESTS_MS, signal)
        isFirst = false
        pulse = (await readList(list, signal, now, taught)) ?? pulse
        if (now >= listingDue) await readListing(signal, now)
      }
      for (const pair of cache.drop(search.unknown(), 'unlisted'))
        logger.warn({ source: source.name, pair }, 'a price source does not list a pair')
      if (taught.prices === 0) throw new PollFault(taught.refusals > 0 ? 'refused' : 'empty', null, '')
      if (isFrozen(cache.all(), pulse, now)) throw new PollFault('frozen', null, '')
    },

    /** The store's clock was set back. */
    goBack(byMs: Ms): void {
      listingDue -= byMs
      listedAt -= byMs
    },
  }
}

const timer = (ms: Ms, signal: AbortSignal): Promise<unknown> => sleep(ms, undefined, { signal })

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
  const waitMs = result.retryAfterMs === null ? null : Math.min(result.retryAfterMs, LONGEST_RETRY_AFTER_MS)
  if (FORBIDDEN.has(status)) throw new PollFault('forbidden', waitMs ?? FORBIDDEN_BACK_OFF_MS, body)
  throw new PollFault(status === 429 ? 'rate_limited' : 'http_status', waitMs, body)
}

/** Two responses may be equal by chance, or come out of one cache. */
const FROZEN_POLLS = 4

/**
 * Whether a source has repeated its pulse, or else every price, over at least four polls and for as long as that may stand still. One book that is quiet
 * while others move is not frozen.
 */
function createFrozenCheck(frozenAfterMs: Ms): (readings: readonly Reading[], pulse: Pulse | null, now: Ms) => boolean {
  let last = ''
  let since: Ms = 0
  let polls = 0
  return (readings, pulse, now) => {
    const text = pulse?.text ?? readings.filter(isQuote).map(printed).join('\n')
    if (text !== last) {
      last = text
      since = now
      polls = 0
    }
    polls += 1
    return polls >= FROZEN_POLLS && now - since >= (pulse?.stillMs ?? frozenAfterMs)
  }
}

function printed({ base, quote, price }: Quote): string {
  return `${base}/${quote} ${formatDecimal(price)}`
}

/** A pair that a source refused is requested again, alone, after this long. */
const UNKNOWN_MS = 60 * 60_000

/** The parts of a round: all pairs; refused ones once more, now that others were answered; and those others, as proof that the source is well. */
type Stage = 'all' | 'again' | 'proof'

/**
 * Keeps what each request taught, so that a search may take many polls: a refused list is requested again in halves, while those that were answered are
 * left alone. A single pair counts as unknown, for an hour, when it was refused before and after another pair was answered, and the rest is answered after that.
 * A round without such a proof concludes nothing: the source is at fault, not the pairs.
 */
function createPairSearch(names: readonly string[]) {
  let unlisted: ReadonlySet<string> = new Set()
  /** Refused pairs, and when to request each again. */
  const refusedUntil = new Map<string, Ms>()
  let queue: readonly (readonly string[])[] = []
  let stage: Stage | null = null
  let suspects: readonly string[] = []
  let isAnswered = false

  function begin(now: Ms): void {
    const listed = names.filter((name) => !unlisted.has(name))
    const due = listed.filter((name) => (refusedUntil.get(name) ?? Number.POSITIVE_INFINITY) <= now)
    enter('all', [listed.filter((name) => !refusedUntil.has(name)), ...due.map((name) => [name])])
    suspects = []
    isAnswered = false
  }

  function enter(next: Stage, lists: readonly (readonly string[])[]): void {
    stage = next
    queue = lists.filter((list) => list.length > 0)
  }

  /** The stage after one whose lists are all done; null when the round is over. */
  function advance(now: Ms): void {
    if (suspects.length === 0 || !isAnswered) {
      stage = null
    } else if (stage === 'all') {
      const again = suspects
      suspects = []
      enter(
        'again',
        again.map((name) => [name]),
      )
    } else if (stage === 'again') {
      const isLeft = (name: string) => !suspects.includes(name) && !refusedUntil.has(name) && !unlisted.has(name)
      enter('proof', [names.filter(isLeft)])
    } else {
      for (const name of suspects) refusedUntil.set(name, now + UNKNOWN_MS)
      stage = null
    }
  }

  return {
    /** The next list of this round; null when the round is complete. A round goes on after a poll that ended early. */
    next(now: Ms): readonly string[] | null {
      if (stage === null) begin(now)
      while (stage !== null && queue.length === 0) advance(now)
      return queue[0] ?? null
    },

    /** The source answered the last list. */
    answered(): void {
      for (const name of queue[0] ?? []) refusedUntil.delete(name)
      queue = queue.slice(1)
      isAnswered = true
    },

    /** The source refused the last list because of one of its pairs. */
    refused(now: Ms): void {
      const [list = [], ...rest] = queue
      const [only = ''] = list
      const middle = Math.ceil(list.length / 2)
      queue = list.length > 1 && stage !== 'proof' ? [list.slice(0, middle), list.slice(middle), ...rest] : rest
      // The rest fails as well, so what was refused says nothing about its pairs.
      if (stage === 'proof') stage = null
      else if (list.length === 1 && refusedUntil.has(only)) refusedUntil.set(only, now + UNKNOWN_MS)
      else if (list.length === 1) suspects = [...suspects, only]
    },

    /** The source's own list of what it has now: other pairs are not requested until the next one. False when it has none of ours, which is not believed. */
    listed(there: ReadonlySet<string>): boolean {
      const gone = names.filter((name) => !there.has(name))
      if (gone.length === names.length) return false
      if (gone.some((name) => !unlisted.has(name))) {
        stage = null
        queue = []
      }
      unlisted = new Set(gone)
      return true
    },

    /** Pairs that the source does not have. */
    unknown: (): ReadonlySet<string> => new Set([...unlisted, ...refusedUntil.keys()]),
  }
}
