import { coinPaprikaTicker } from '#shared/contracts/rates/coin-paprika.ts'
import { deviatesMoreThan, parsePrice } from '#shared/domain/rates/price.ts'
import type { JumpConfirmation } from '#shared/ports/rate-sources.ts'
import type { HttpGet } from '#shared/runtime/http/http-get.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { isoMs } from './quote-readers.ts'
import { readBody } from './rate-source.ts'

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

const TOLERANCE = { digits: 3n, scale: 2 }
const TIMEOUT_MS = 2_000
const MAX_BYTES = 256 * 1024
const MAX_AGE_MS = 15 * 60_000

/** Dependencies of {@link createJumpConfirmation}. */
export type JumpConfirmationDeps = Uses<'clock' | 'logger'> & {
  readonly http: Pick<HttpGet, 'get'>
  readonly baseUrl: string
}

/** Confirms jumps with CoinPaprika. It averages the same exchanges, so it confirms a jump but never makes a price. */
export function createJumpConfirmation(deps: JumpConfirmationDeps): JumpConfirmation {
  return {
    async agrees(symbol, usdPrice) {
      const id = COIN_IDS[symbol]
      if (id === undefined) return false
      const signal = AbortSignal.timeout(TIMEOUT_MS)
      const result = await deps.http.get(`${deps.baseUrl}/v1/tickers/${id}?quotes=USD`, { signal, maxBytes: MAX_BYTES })
      if (result.outcome !== 'answer' || result.status !== 200) return false
      try {
        const answer = readBody(coinPaprikaTicker, result.body)
        const price = parsePrice(answer.quotes.USD.price)
        const updatedAt = isoMs(answer.last_updated)
        if (price === null || updatedAt === null || deps.clock.now() - updatedAt > MAX_AGE_MS) return false
        return !deviatesMoreThan(price, usdPrice, TOLERANCE)
      } catch (error) {
        deps.logger.warn({ symbol, err: error }, 'the jump confirmation returned no usable response')
        return false
      }
    },
  }
}
