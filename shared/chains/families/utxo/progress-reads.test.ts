import { expect, it } from 'vitest'
import { createProgressReads } from './progress-reads.ts'

// Guarantee: a list that a node makes long ends no step: what overflows is no failure of a node, and no other one would be asked.
it('finds the oldest of two hundred thousand peers', async () => {
  const peers = Array.from({ length: 200_000 }, (_, index) => ({ conntime: 1_700_000_000 - index }))
  const { oldestPeerSince } = createProgressReads(async (_method, _params, schema) => schema.parse(peers))
  expect(await oldestPeerSince()).toBe((1_700_000_000 - 199_999) * 1_000)
})
