import { expect, it } from 'vitest'
import { startExchangeSimulator } from '#dev/exchange-simulator/simulator.ts'
import { isPlausible } from '#shared/domain/rates/plausible.ts'
import { isQuote } from '#shared/domain/rates/quote.ts'
import { ALL_SOURCES } from './rate-sources.ts'

// Guarantee: neither `npm start` nor a test asks an exchange on the internet. A source without simulated answers would be asked there.
it('has simulated answers for every source', async () => {
  const simulator = await startExchangeSimulator({ port: 0 })
  try {
    expect(ALL_SOURCES.map(({ name }) => name).filter((name) => !Object.hasOwn(simulator.sourceUrls, name))).toEqual([])
    for (const { name, path, pairs, parse, read } of ALL_SOURCES) {
      expect([name, Date.parse(read.on) < Date.now(), read.from.length > 0]).toEqual([name, true, true])
      const base = new Map(Object.entries(simulator.sourceUrls)).get(name)
      const response = await fetch(`${base}${path(Object.keys(pairs))}`)
      const { readings } = parse(await response.text(), Date.now())
      // No price of today is out of proportion: a pair of which a name has no measure would be dropped for ever.
      expect(readings.filter(isQuote).filter((one) => !isPlausible(one.base, one.quote, one.price))).toEqual([])
      const priced = readings.filter(isQuote).map(({ base: of, quote }) => `${of}/${quote}`)
      // Today's world: every pair that a source is expected to price is there.
      expect([...priced].sort(), name).toEqual(
        Object.values(pairs)
          .map((pair) => pair.join('/'))
          .sort(),
      )
    }
  } finally {
    await simulator.stop()
  }
})
