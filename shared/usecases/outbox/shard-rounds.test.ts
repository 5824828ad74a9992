import { expect, it } from 'vitest'
import { createShardRounds } from './relay.ts'

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

// Guarantee: a round that takes long, or a long backlog, keeps a request for each shard and not one for each wake-up.
it('gives the requests that wait for the same round one promise, and those during a round another', async () => {
  const { relay, rounds, shards } = openRounds()
  const first = relay(1)
  expect(relay(1)).toBe(first)
  await microtasks()
  const during = relay(1)
  expect(during).not.toBe(first)
  for (let times = 0; times < 1_000; times += 1) expect(relay(1)).toBe(during)
  rounds[0]?.end(true)
  await microtasks()
  // The rest of the backlog and what was requested meanwhile are read together, and a request after that read is not.
  expect(shards()).toEqual([[1], [1]])
  const afterRead = relay(1)
  expect(afterRead).not.toBe(during)
  rounds[1]?.end(false)
  await Promise.all([first, during])
  expect(shards()).toEqual([[1], [1], [1]])
  rounds[2]?.end(false)
  await afterRead
})

it('fails every request of a round that fails, and serves those during it', async () => {
  const rounds: { readonly fail: (cause: Error) => void; readonly end: () => void }[] = []
  const relay = createShardRounds(
    () => new Promise((resolve, reject) => rounds.push({ fail: reject, end: () => resolve(false) })),
  )
  const first = relay(1)
  await microtasks()
  const during = relay(1)
  rounds[0]?.fail(new Error('the store is away'))
  await expect(first).rejects.toThrow('the store is away')
  await microtasks()
  rounds[1]?.end()
  await during
})
