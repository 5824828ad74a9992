import { expect, it } from 'vitest'
import { RATE_BURST } from '#shared/ports/rate-limit.ts'
import { createLocalBuckets } from './local-buckets.ts'
import { createMemoryTokenBuckets } from './token-bucket.ts'

const RULE = { name: 'paymentMethod', capacity: 5, intervalMs: 60_000 }

// Guarantee: who used up a budget gets no new one by sending requests from so many addresses that the process must forget some.
it('keeps a drained bucket through a flood from more sources than are kept', async () => {
  const buckets = createMemoryTokenBuckets(() => 0)
  for (let used = 0; used < RULE.capacity; used += 1) await buckets.take(RULE, 'greedy')
  for (let one = 0; one < 45_000; one += 1) await buckets.take(RULE, `flood-${one}`)
  expect((await buckets.take(RULE, 'greedy')).allowed).toBe(false)
})

it('keeps the counts of a drained API key while requests are counted without Redis', () => {
  const buckets = createLocalBuckets(() => 0)
  for (let used = 0; used < RATE_BURST; used += 1) buckets.take('greedy')
  for (let one = 0; one < 110_000; one += 1) buckets.take(`flood-${one}`)
  expect(buckets.take('greedy').allowed).toBe(false)
})
