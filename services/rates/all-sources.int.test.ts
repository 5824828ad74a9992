import { expect, it } from 'vitest'
import { startExchangeSimulator } from '#dev/exchange-simulator/simulator.ts'
import { ALL_SOURCES } from './all-sources.ts'

// Guarantee: neither `npm start` nor a test asks an exchange on the internet. A source without simulated answers would be asked there.
it('has simulated answers for every source', async () => {
  const simulator = await startExchangeSimulator({ port: 0 })
  try {
    expect(ALL_SOURCES.map(({ name }) => name).filter((name) => !Object.hasOwn(simulator.sourceUrls, name))).toEqual([])
    for (const { name, path, pairs, parse } of ALL_SOURCES) {
      const base = new Map(Object.entries(simulator.sourceUrls)).get(name)
      const response = await fetch(`${base}${path(pairs)}`)
      expect(parse(await response.text(), Date.now()), name).not.toEqual([])
    }
  } finally {
    await simulator.stop()
  }
})
