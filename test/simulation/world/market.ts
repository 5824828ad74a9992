import type { Quote } from '#shared/domain/rates/quote.ts'
import type { Prng } from '../kernel/prng.ts'
import type { FaultMix } from './fault-mix.ts'

const BASE: Readonly<Record<string, number>> = { BTC: 100_000, ETH: 4_000, USDT: 1, USDC: 1, SOL: 200, TRX: 0.3 }
const SOURCES = ['alpha', 'beta', 'gamma', 'delta'] as const
const STEP_MS = 60_000

/** Prices as they really are, and what the exchanges say about them. */
export interface Market {
  /** US dollars for one unit at a time. */
  priceAt(symbol: string, at: number): number
  quotes(now: number): readonly Quote[]
}

/** A market whose coins wander slowly; the exchanges that show it fail as the mix says. */
export function createMarket(mix: () => FaultMix, fault: (name: string) => void, random: Prng): Market {
  const phase = Object.fromEntries(Object.keys(BASE).map((symbol) => [symbol, random.next() * 6.28]))
  const speed = 30 + random.next() * 300
  const swing = random.chance(0.3) ? 0.08 : 0.02
  const luck = random.fork('exchanges')
  const priceAt = (symbol: string, at: number): number => {
    const base = BASE[symbol] ?? 0
    if (base === 1) return 1
    const step = Math.floor(at / STEP_MS)
    return base * (1 + swing * Math.sin(step / speed + (phase[symbol] ?? 0)))
  }
  const quote = (source: string, symbol: string, now: number): readonly Quote[] => {
    const faulty = luck.chance(mix().rateFault)
    const kind = faulty ? luck.pick(['missing', 'stale', 'tenfold', 'tiny']) : 'honest'
    if (faulty) fault(`F12 ${kind}`)
    if (kind === 'missing') return []
    const factor = kind === 'tenfold' ? 10 : kind === 'tiny' ? 0.0001 : 1 + (luck.next() - 0.5) * 0.001
    const digits = BigInt(Math.round(priceAt(symbol, now) * factor * 1e6))
    if (digits === 0n) return []
    const sourceAt = kind === 'stale' ? now - luck.between(61_000, 3_600_000) : now - luck.between(0, 900)
    return [
      { source, base: symbol, quote: 'USD', price: { digits, scale: 6 }, feed: 'book', receivedAt: now, sourceAt },
    ]
  }
  return {
    priceAt,
    quotes(now) {
      // Now and then nothing answers at all.
      if (luck.chance(mix().rateFault / 2)) {
        fault('F12 all away')
        return []
      }
      return SOURCES.flatMap((source) => Object.keys(BASE).flatMap((symbol) => quote(source, symbol, now)))
    },
  }
}
