import { describe, expect, it } from 'vitest'
import { parseDecimal } from '#shared/domain/money/money.ts'
import type { Consensus } from './consensus.ts'
import { crossCheck } from './cross-check.ts'
import type { Quote } from './quote.ts'

const leg = (price: string): Consensus => ({
  price: parseDecimal(price),
  sources: [],
  outliers: [],
  oldestAt: 0,
  receivedAt: 0,
})
const SYMBOLS = new Map([['BTC', leg('100')] as const, ['USDT', leg('1')] as const])
const FIATS = new Map([['EUR', leg('0.5')] as const, ['BRL', leg('5')] as const])

function direct(base: string, quote: string, price: string): Quote {
  return { source: 's', base, quote, price: parseDecimal(price), feed: 'book', receivedAt: 0, sourceAt: null }
}

const alarms = (...quotes: readonly Quote[]) => crossCheck(quotes, SYMBOLS, FIATS).map(({ pair }) => pair)

describe('crossCheck', () => {
  it('bears 2 % in Europe and 5 % in Latin America, on either side', () => {
    expect(alarms(direct('BTC', 'EUR', '51'), direct('BTC', 'EUR', '49'))).toEqual([])
    expect(alarms(direct('BTC', 'EUR', '51.01'), direct('BTC', 'EUR', '48.99'))).toEqual(['BTC/EUR', 'BTC/EUR'])
    expect(alarms(direct('BTC', 'BRL', '525'), direct('BTC', 'BRL', '474.9'))).toEqual(['BTC/BRL'])
  })

  it('says both prices and whose book it is', () => {
    expect(crossCheck([direct('BTC', 'EUR', '60')], SYMBOLS, FIATS)).toEqual([
      { source: 's', pair: 'BTC/EUR', direct: parseDecimal('60'), crossed: { digits: 500n, scale: 1 } },
    ])
  })

  it('has nothing to say about dollars, tethers and pairs without both legs', () => {
    const others = [
      ['BTC', 'USD'],
      ['USDT', 'BRL'],
      ['BTC', 'GBP'],
      ['ETH', 'EUR'],
      ['EUR', 'USD'],
      ['USD', 'BRL'],
    ]
    expect(alarms(...others.map(([base = '', quote = '']) => direct(base, quote, '777')))).toEqual([])
  })
})
