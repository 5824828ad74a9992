/** USD per unit of the simulated coins; invented, close to real orders of magnitude. */
const SEED_PRICES: Readonly<Record<string, number>> = {
  BTC: 71_250,
  ETH: 2_140,
  LTC: 56.4,
  DOGE: 0.0985,
  BNB: 642.5,
  POL: 0.112,
  TRX: 0.305,
  SOL: 88.4,
  USDT: 0.9997,
  USDC: 0.9999,
}

/** Fiat per USD, equally invented. */
const FIAT_PER_USD: Readonly<Record<string, number>> = {
  USD: 1,
  EUR: 1 / 1.138,
  GBP: 1 / 1.33,
  BRL: 5.1,
  MXN: 17.42,
  'ARS:official': 1_490,
  'ARS:crypto': 1_532,
  COP: 3_245,
  CLP: 925,
  PEN: 3.385,
  DOP: 61.5,
}

/** Symbols with a nearly constant price, the same on every venue. */
const STABLE: ReadonlySet<string> = new Set(['USDT', 'USDC'])

const WIDEST_WALK = 20 / 10_000
const STEP = 0.4 / 10_000

/** The single market behind all simulated venues. Plain numbers: nothing here is money. */
export type Market = ReturnType<typeof createMarket>

/** Builds a market with a deterministic random walk within 0.2 % of the configured prices. */
export function createMarket(seedPrices: Readonly<Record<string, number>> = {}) {
  const usd = new Map(Object.entries({ ...SEED_PRICES, ...seedPrices }))
  const walk = new Map<string, number>()
  const random = createSequence(20_261)

  function usdOf(code: string): number {
    const coin = usd.get(code)
    if (coin !== undefined) return coin * (1 + (walk.get(code) ?? 0))
    const fiat = FIAT_PER_USD[code]
    if (fiat === undefined) throw new Error(`the market does not know ${code}`)
    return 1 / fiat
  }

  return {
    /** Units of `quote` per `base`, both a coin or a fiat, before a venue's own bias. */
    price: (base: string, quote: string): number => usdOf(base) / usdOf(quote),

    /** Moves every coin a little; the same seed and number of steps give the same prices. */
    step(): void {
      for (const symbol of usd.keys()) {
        const size = STABLE.has(symbol) ? STEP / 20 : STEP
        const next = (walk.get(symbol) ?? 0) * 0.995 + (random() - 0.5) * 2 * size
        walk.set(symbol, Math.max(-WIDEST_WALK, Math.min(WIDEST_WALK, next)))
      }
    },
    setPrice(symbol: string, price: number): void {
      if (!usd.has(symbol)) throw new Error(`the market does not know ${symbol}`)
      usd.set(symbol, price)
      walk.delete(symbol)
    },
  }
}

/** Whether venues quote this pair without a bias: dollars against dollars. */
export function isTight(base: string, quote: string): boolean {
  return (STABLE.has(base) || base in FIAT_PER_USD) && (STABLE.has(quote) || quote in FIAT_PER_USD)
}

/** Numbers in [0, 1) by a linear congruential generator (Numerical Recipes), the same ones every time. */
function createSequence(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
