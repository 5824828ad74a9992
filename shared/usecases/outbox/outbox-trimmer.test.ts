import { expect, test } from 'vitest'
import { standIn } from '#test/support/stand-in.ts'
import { createBackgroundTrimmer } from './outbox-memory.ts'

const nothing = (): void => undefined

/** A trimmer in virtual time; `writes` are the batches, and those with the id `fails` fail. */
function stage(fails: string | null = null) {
  const timers: { at: number; run: () => void }[] = []
  const world = { now: 0, writes: [] as string[] }
  const trimmer = createBackgroundTrimmer({
    invoices: standIn({
      trimOutbox: async (entries) => {
        world.writes.push(entries.map(({ id, throughSeq }) => `${id} ${throughSeq}`).join(', '))
        if (entries.some(({ id }) => id === fails)) throw new Error('away')
      },
    }),
    after: (ms, run) => {
      const timer = { at: world.now + ms, run }
      timers.push(timer)
      return () => {
        if (timers.includes(timer)) timers.splice(timers.indexOf(timer), 1)
      }
    },
    stopwatch: () => world.now,
    logger: { debug: nothing, info: nothing, warn: nothing, error: nothing } as never,
  })
  const pass = async (ms: number): Promise<void> => {
    const until = world.now + ms
    for (;;) {
      for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate)
      const next = timers.filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0]
      if (next === undefined) break
      timers.splice(timers.indexOf(next), 1)
      world.now = next.at
      next.run()
    }
    world.now = until
  }
  return { world, trimmer, pass }
}

test('a few entries wait 40 ms for company, 64 are trimmed at once', async () => {
  const { world, trimmer, pass } = stage()
  await trimmer.relayed([{ id: 'a', throughSeq: 2 }])
  await trimmer.relayed([{ id: 'b', throughSeq: 1 }])
  await pass(39)
  expect(world.writes).toEqual([])
  await pass(1)
  expect(world.writes).toEqual(['a 2, b 1'])
  await trimmer.relayed(Array.from({ length: 64 }, (_, at) => ({ id: `i${at}`, throughSeq: 1 })))
  await pass(0)
  expect(world.writes).toHaveLength(2)
})

// Guarantee: later entries of an invoice are never taken for relayed ones.
test('remembers by sequence number, until a read at majority shows the trim', async () => {
  const { trimmer, pass } = stage()
  await trimmer.relayed([{ id: 'a', throughSeq: 2 }])
  expect([trimmer.relayedThrough('a'), trimmer.relayedThrough('b'), trimmer.waiting()]).toEqual([2, 0, 1])
  await pass(50)
  expect([trimmer.relayedThrough('a'), trimmer.waiting()]).toEqual([2, 0])
  await pass(3_000)
  await trimmer.relayed([{ id: 'b', throughSeq: 1 }])
  await pass(50)
  expect([trimmer.relayedThrough('a'), trimmer.relayedThrough('b')]).toEqual([0, 1])
})

// Guarantee: an entry whose trim fails every time is found by the next sweep.
test('forgets entries whose trim is given up, but not newer ones of the same invoice', async () => {
  const { world, trimmer, pass } = stage('a')
  await trimmer.relayed([
    { id: 'a', throughSeq: 2 },
    { id: 'b', throughSeq: 1 },
  ])
  await pass(41)
  await trimmer.relayed([{ id: 'b', throughSeq: 4 }])
  await pass(1_500)
  expect(world.writes.filter((write) => write === 'a 2, b 1')).toHaveLength(3)
  expect([trimmer.relayedThrough('a'), trimmer.relayedThrough('b'), trimmer.waiting()]).toEqual([0, 4, 0])
})

test('flush trims what waits and ends when it is written', async () => {
  const { world, trimmer } = stage()
  await trimmer.relayed([{ id: 'a', throughSeq: 1 }])
  await trimmer.flush()
  expect(world.writes).toEqual(['a 1'])
  await trimmer.flush()
  expect(world.writes).toHaveLength(1)
})

test('above ten thousand invoices all are forgotten', async () => {
  const { trimmer } = stage()
  await trimmer.relayed(Array.from({ length: 10_001 }, (_, at) => ({ id: `i${at}`, throughSeq: 1 })))
  expect([trimmer.relayedThrough('i0'), trimmer.relayedThrough('i10000')]).toEqual([0, 1])
})

// Guarantee: an entry that the loss of a primary brings back is relayed and trimmed again, also while nothing else happens.
test('forgets a trim after two seconds, without another invoice', async () => {
  const { trimmer, pass } = stage()
  await trimmer.relayed([{ id: 'a', throughSeq: 2 }])
  await pass(41)
  expect(trimmer.relayedThrough('a')).toBe(2)
  await pass(2_100)
  expect(trimmer.relayedThrough('a')).toBe(0)
})
