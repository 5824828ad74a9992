import { expect, it } from 'vitest'
import { createJobTurns } from './job-turns.ts'

const QUEUE = 'outbox'
const SILENT = { debug() {}, info() {}, warn() {}, error() {} }
const logger = { ...SILENT, child: () => logger }

/** Turns of a handler whose calls end when the test says so; `merge` = concurrent calls of an id are one. */
function opened({ merge, endsAtOnce }: { readonly merge: boolean; readonly endsAtOnce: boolean }) {
  const counted = new Map<string, number>()
  const count = (name: string) => void counted.set(name, (counted.get(name) ?? 0) + 1)
  const metrics = { count, gauge() {}, observe: count }
  const ends: { readonly resolve: () => void; readonly reject: (cause: Error) => void }[] = []
  const merged = new Map<string, Promise<void>>()
  const handle = (id: string) => {
    const known = merged.get(id)
    if (known !== undefined) return known
    const work = new Promise<void>((resolve, reject) => ends.push({ resolve, reject }))
    if (merge) merged.set(id, work)
    return work
  }
  const turns = createJobTurns({ queue: QUEUE, handle, endsAtOnce }, { logger, metrics })
  return { turns, ends, counted }
}

const microtasks = () => new Promise((resolve) => setImmediate(resolve))

// Guarantee: wake-ups during a long round of the relay use no memory each, and one failure is counted once.
it('keeps one turn for calls that the handler merges', async () => {
  const { turns, ends, counted } = opened({ merge: true, endsAtOnce: true })
  const first = turns.take('a')
  const second = turns.take('a')
  expect(turns.take('a')).toBe(second)
  expect(turns.take('a')).toBe(second)
  expect(turns.size).toBe(1)
  ends[0]?.reject(new Error('the store is away'))
  await Promise.all([first, second])
  await microtasks()
  expect(turns.isRunning('a')).toBe(false)
  expect(counted.get('jobs_failed_total')).toBe(1)
  expect(counted.get('job_seconds')).toBe(1)
})

it('runs an id until the last of its concurrent calls has ended, whichever that is', async () => {
  const { turns, ends } = opened({ merge: false, endsAtOnce: true })
  const both = [turns.take('a'), turns.take('a')]
  ends[1]?.resolve()
  await microtasks()
  expect(turns.isRunning('a')).toBe(true)
  ends[0]?.resolve()
  await Promise.all(both)
  expect(turns.isRunning('a')).toBe(false)
})

it('runs one turn of an id after the other where the handler does not merge, and survives one that throws', async () => {
  let calls = 0
  const running: string[] = []
  const turns = createJobTurns(
    {
      queue: QUEUE,
      handle: (id) => {
        calls += 1
        if (calls === 1) throw new Error('no such id')
        running.push(id)
        return Promise.resolve()
      },
    },
    { logger, metrics: { count() {}, gauge() {}, observe() {} } },
  )
  await Promise.all([turns.take('a'), turns.take('a')])
  expect(running).toEqual(['a'])
  expect(turns.size).toBe(0)
})
