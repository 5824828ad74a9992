import { z } from 'zod'
import type { RateRepository } from '#shared/db/rates/rate-repository.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import { type Decimal, parseDecimal } from '#shared/domain/money/money.ts'
import { CONFIRMED_WITHIN, deviatesMoreThan, parsePrice } from '#shared/domain/rates/price.ts'
import type { JumpConfirmation } from '#shared/ports/rate-sources.ts'
import type { HttpGet } from '#shared/runtime/http/http-get.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { isoMs } from './quote-readers.ts'
import { readBody, readRows } from './rate-source.ts'

/** `GET /v1/tickers?quotes=USD` of CoinPaprika: every coin of its list in one response. */
const coinPaprikaTickers = z.array(z.unknown()).min(1)

/** One coin; the price is a bare number, `last_updated` ISO 8601 in UTC. */
const coinPaprikaTicker = z.object({
  id: z.string(),
  last_updated: z.string(),
  quotes: z.object({ USD: z.object({ price: z.string() }) }),
})

/** Name of the aggregator in `rates.sourceUrls`. */
export const TRIPWIRE_SOURCE = 'coin-paprika'

/** Scheme and host of the public API, which needs no key; it is only called while a price jump waits for confirmation. */
export const TRIPWIRE_URL = 'https://api.coinpaprika.com'

const COIN_IDS: Readonly<Record<string, string>> = {
  BTC: 'btc-bitcoin',
  LTC: 'ltc-litecoin',
  DOGE: 'doge-dogecoin',
  ETH: 'eth-ethereum',
  BNB: 'bnb-binance-coin',
  POL: 'pol-polygon-ecosystem-token',
  TRX: 'trx-tron',
  SOL: 'sol-solana',
  USDT: 'usdt-tether',
  USDC: 'usdc-usd-coin',
}

const TIMEOUT_MS = 4_000
/** About 2,000 coins of less than a kilobyte each. */
const MAX_BYTES = 4 * 1024 * 1024
const MAX_AGE_MS = 15 * 60_000

/**
 * Without a key, 20,000 requests a month and address (docs.coinpaprika.com, "Rate limits", read 2026-11-29). One response has every coin, so the budget is one
 * request per 135 s, of which ten can be spent at once: at most 19,850 in 31 days. Each is a lease in the store, so that neither a restart nor a second process adds to them.
 */
const BURST = 10
const LEASE_MS = BURST * 135_000
/** One response serves every jump of a cycle. */
const CACHE_MS = 10_000

/** Dependencies of {@link createJumpConfirmation}. */
export type JumpConfirmationDeps = Uses<'clock' | 'logger' | 'leases' | 'random'> & {
  readonly rates: Pick<RateRepository, 'confirmed'>
  readonly http: Pick<HttpGet, 'get'>
  readonly baseUrl: string
}

type Prices = ReadonlyMap<string, { readonly price: Decimal; readonly at: Ms }>

/**
 * Confirms jumps by what an operator confirmed in the last hour, and coins also with CoinPaprika. It averages the same exchanges, so it confirms or contradicts a jump
 * but never makes a price. While its budget is used up, its last response counts for as long as its prices are young enough.
 */
export function createJumpConfirmation(deps: JumpConfirmationDeps): JumpConfirmation {
  let last: { readonly at: Ms; readonly prices: Prices } | null = null

  async function prices(): Promise<Prices> {
    const now = deps.clock.now()
    if (last !== null && now >= last.at && now - last.at < CACHE_MS) return last.prices
    if (!(await spend(deps))) return last?.prices ?? new Map()
    // A failed request costs as much as an answered one, and is not repeated for the next coin of the cycle.
    last = { at: now, prices: (await request(deps)) ?? last?.prices ?? new Map() }
    return last.prices
  }

  return {
    async agrees(name, price) {
      try {
        const now = deps.clock.now()
        const confirmed = await deps.rates.confirmed(name, now)
        if (confirmed !== null && !deviatesMoreThan(price, parseDecimal(confirmed), CONFIRMED_WITHIN)) return true
        const id = COIN_IDS[name]
        const other = id === undefined ? undefined : (await prices()).get(id)
        // A time far ahead of ours says nothing about when the price was taken.
        if (other === undefined || Math.abs(now - other.at) > MAX_AGE_MS) return null
        return !deviatesMoreThan(other.price, price, CONFIRMED_WITHIN)
      } catch (error) {
        deps.logger.warn({ rate: name, err: error }, 'a jump could not be checked')
        return null
      }
    },
  }
}

/** Takes one request from the budget; false when there is none left now. */
async function spend({ leases, random }: Pick<JumpConfirmationDeps, 'leases' | 'random'>): Promise<boolean> {
  const owner = random.uuid()
  for (let place = 0; place < BURST; place += 1) {
    if (await leases.acquire(`second-opinion-${place}`, owner, LEASE_MS)) return true
  }
  return false
}

/** The aggregator's prices by its ids; null when it gave no usable response. */
async function request({ http, baseUrl, logger }: JumpConfirmationDeps): Promise<Prices | null> {
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  const result = await http.get(`${baseUrl}/v1/tickers?quotes=USD`, { signal, maxBytes: MAX_BYTES })
  if (result.outcome !== 'answer' || result.status !== 200) {
    const why = result.outcome === 'answer' ? String(result.status) : result.outcome
    logger.warn({ source: TRIPWIRE_SOURCE, why }, 'the jump confirmation did not respond')
    return null
  }
  try {
    return pricesIn(result.body)
  } catch (error) {
    logger.warn({ source: TRIPWIRE_SOURCE, err: error }, 'the jump confirmation returned no usable response')
    return null
  }
}

function pricesIn(body: string): Prices {
  const found = new Map<string, { readonly price: Decimal; readonly at: Ms }>()
  for (const { id, last_updated, quotes } of readRows(coinPaprikaTicker, readBody(coinPaprikaTickers, body))) {
    const price = parsePrice(quotes.USD.price)
    const at = isoMs(last_updated)
    if (price !== null && at !== null) found.set(id, { price, at })
  }
  return found
}
