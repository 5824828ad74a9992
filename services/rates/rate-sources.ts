import { binance } from '#services/rates/sources/binance.ts'
import { bitfinex } from '#services/rates/sources/bitfinex.ts'
import { bitso } from '#services/rates/sources/bitso.ts'
import { bitstamp } from '#services/rates/sources/bitstamp.ts'
import { coinbase } from '#services/rates/sources/coinbase.ts'
import { coinbaseFx } from '#services/rates/sources/coinbase-fx.ts'
import { dolarApi } from '#services/rates/sources/dolar-api.ts'
import { kraken } from '#services/rates/sources/kraken.ts'
import { okx } from '#services/rates/sources/okx.ts'
import { openErApi } from '#services/rates/sources/open-er-api.ts'
import { yadio } from '#services/rates/sources/yadio.ts'
import type { RateSources } from '#shared/ports/rate-sources.ts'
import type { HttpGet } from '#shared/runtime/http/http-get.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import type { RateSource } from './rate-source.ts'
import { createSourcePoller, type SourcePollerDeps } from './source-poller.ts'

/** Every price source; adding one is one file and one line here. */
export const ALL_SOURCES: readonly RateSource[] = [
  kraken,
  coinbase,
  bitstamp,
  okx,
  binance,
  bitfinex,
  bitso,
  coinbaseFx,
  yadio,
  openErApi,
  dolarApi,
]

/** Dependencies of {@link createRateSources}. */
export type RateSourcesDeps = Uses<'clock' | 'logger' | 'metrics'> & {
  readonly http: Pick<HttpGet, 'get'>
  /** Base URL by source name; a source without one uses its public address. */
  readonly sourceUrls: Readonly<Record<string, string>>
  /** Time limit of one poll, milliseconds; 4,000 by default. */
  readonly timeoutMs?: number
  /** Waits between two requests to one source; a timer by default. */
  readonly pause?: SourcePollerDeps['pause']
}

const TIMEOUT_MS = 4_000

/** Every known source behind one poll. */
export function createRateSources(deps: RateSourcesDeps): RateSources {
  const pollers = ALL_SOURCES.map((source) =>
    createSourcePoller({
      ...deps,
      source,
      baseUrl: deps.sourceUrls[source.name] ?? source.defaultUrl,
      timeoutMs: deps.timeoutMs ?? TIMEOUT_MS,
    }),
  )
  return {
    async poll() {
      await Promise.all(pollers.map((poller) => poller.poll()))
      return pollers.flatMap((poller) => poller.readings())
    },
    failing: () => pollers.flatMap((poller) => poller.failing() ?? []),
  }
}
