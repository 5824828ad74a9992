import type { RateSnapshot } from '#shared/ports/rates.ts'

/** Rates in which the official peso jumped from 366 to 800 per dollar and waits, USDT is off its peg, and TRX has lost three of its five sources and its price. */
export function waitingJumpAt(at: number): RateSnapshot {
  const peso = { price: '366', at: at - 60_000 }
  const tether = { price: '0.93', at }
  const book = (price: string) => ({ price, sources: ['coinbase', 'kraken', 'okx'], oldestAt: at - 6_000 })
  const near = { candidate: null, stopped: null }
  return {
    at,
    usdPerSymbol: { BTC: { ...book('92862.4'), outliers: ['bitfinex'] }, ETH: book('2140') },
    fiatPerUsd: {
      USD: { price: '1', sources: [], oldestAt: at },
      DOP: { price: '61.5', sources: ['coinbase-fx', 'yadio'], oldestAt: at - 60_000 },
    },
    guards: {
      'ARS:official': {
        ...{ last: peso, quarter: [peso], day: [peso], stopped: null },
        candidate: { price: '800', at, since: at - 45_000 },
      },
      USDT: { ...near, last: tether, quarter: [tether], day: [tether], stopped: { insideSince: null } },
    },
    expected: { BTC: 6, ETH: 6, TRX: 5, USDT: 5, DOP: 3, 'ARS:official': 3 },
    sources: {
      bitfinex: { heardAt: at, expected: 9, used: 1, dropped: { 'BTC/USD': 'outlier', 'TRX/USD': 'no_price' } },
      kraken: { heardAt: at, expected: 12, used: 11, dropped: { 'TRX/USD': 'unlisted' } },
      yadio: { heardAt: null, expected: 9, used: 0, dropped: { 'USD/DOP': 'no_answer' } },
    },
    clockOffsetMs: 70_000,
  }
}
