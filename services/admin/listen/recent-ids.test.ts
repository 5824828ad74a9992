import { expect, it } from 'vitest'
import { createRecentIds } from './serve-listener.ts'

// Guarantee: a listener that catches up a million events costs the process the memory of a thousand.
it('remembers the last ids and no others', () => {
  const ids = createRecentIds(1_000)
  const all = Array.from({ length: 5_000 }, (_, one) => `event-${one}`)
  for (const id of all) ids.add(id)
  expect(all.filter((id) => ids.has(id))).toEqual(all.slice(-1_000))
})
