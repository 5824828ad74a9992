import { expect, it } from 'vitest'
import { createShardRounds } from './shard-rounds.ts'

/** Rounds that end when the test says so. */
function openRounds() {
  const rounds: { readonly shards: readonly number[]; readonly end: (hasMore: boolean) => void }[] = []
  const relay = createShardRounds((shards) => new Promise((end) => rounds.push({ shards, end })))
  return { relay, rounds, shards: () => rounds.map((round) => round.shards) }
}

const microtasks = () => new Promise((resolve) => setImmediate(resolve))

it('serves the shards of one turn in one round, and others in a second while it runs', async () => {
  const { relay, rounds, shards } = openRounds()
  const first = [relay(1), relay(4), relay(1)]
  await microtasks()
  const second = relay(2)
  await microtasks()
  expect(shards()).toEqual([[1, 4], [2]])
  for (const round of rounds) round.end(false)
  await Promise.all([...first, second])
})

// Guarantee: entries written before a wake-up are read after it, also when a round of their shard was running.
it('reads a shard again for a request during its round, together with all that wait', async () => {
  const { relay, rounds, shards } = openRounds()
  const first = relay(1)
  await microtasks()
  const again = [relay(1), relay(1)]
  await microtasks()
  expect(shards()).toEqual([[1]])
  const other = relay(2)
  await microtasks()
  const third = relay(3)
  await microtasks()
  expect(shards()).toEqual([[1], [2]])
  rounds[0]?.end(false)
  await first
  expect(shards()).toEqual([[1], [2], [1, 3]])
  for (const round of rounds) round.end(false)
  await Promise.all([...again, other, third])
})
