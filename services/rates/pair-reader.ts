import { setTimeout as sleep } from 'node:timers/promises'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { HttpGet, HttpGetResult } from '#shared/runtime/http/http-get.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { createFrozenCheck } from './frozen-check.ts'
import { createPairSearch } from './pair-search.ts'
import { type FaultReason, type Parsed, type RateSource, SourceFault } from './rate-source.ts'
import type { ReadingCache } from './reading-cache.ts'

/** Reads every pair of one source into a cache. */
export interface PairReader {
  /**
   * Requests the pairs, in one list or, while one of them is refused, in several; and what the source lists when that is due. `taught` counts what was learnt,
   * also when it throws: a {@link SourceFault}, or what ended a pause.
   */
  read(signal: AbortSignal, now: Ms, taught: Taught): Promise<void>
  /** The store's clock was set back. */
  goBack(byMs: Ms): void
}

/** Dependencies of {@link createPairReader}. */
export type PairReaderDeps = Uses<'clock' | 'logger'> & {
  readonly http: Pick<HttpGet, 'get'>
  readonly source: RateSource
  /** Overrides the real host, for a local simulator. */
  readonly baseUrl: string
  /** Waits between two requests of a poll, and rejects when the signal ends it. Default: a timer. */
  readonly pause?: ((ms: Ms, signal: AbortSignal) => Promise<unknown>) | undefined
}

/** What one poll taught: lists that were answered or narrowed down, prices, and refused lists. */
export interface Taught {
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
export const BETWEEN_REQUESTS_MS = 1_000
/** What a source lists is read once a day, and earlier when it refuses a pair. */
const LISTING_MS = 24 * 60 * 60_000
const LISTING_AGAIN_MS = 10 * 60_000

/** Builds the reader of one source. Requests are a second apart. */
export function createPairReader(
  { source, clock, logger, http, baseUrl, pause = timer }: PairReaderDeps,
  cache: ReadingCache,
): PairReader {
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
    taught: Taught,
  ): Promise<Parsed['pulse']> {
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
      listingDue = now + LISTING_MS
    } catch (error) {
      logger.warn({ source: source.name, err: error }, 'the list of pairs of a price source could not be read')
    }
  }

  return {
    async read(signal, now, taught) {
      let isFirst = true
      let pulse: Parsed['pulse'] = null
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
    goBack(byMs) {
      listingDue -= byMs
      listedAt -= byMs
    },
  }
}

const timer = (ms: Ms, signal: AbortSignal): Promise<unknown> => sleep(ms, undefined, { signal })

/** A poll that failed before there was a body; `pauseMs` is set when the source requested a pause. */
export class PollFault extends SourceFault {
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
