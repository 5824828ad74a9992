import { expect, test } from 'vitest'
import { NO_MARKS } from '#shared/usecases/marks/marks.ts'
import { createInvoiceNumbers } from './invoice-numbers.ts'

function numbersOver(highest: () => number) {
  let reads = 0
  const numbers = createInvoiceNumbers({
    marks: NO_MARKS,
    storeLosses: () => 0,
    invoices: {
      highestNumber: () => {
        reads += 1
        return Promise.resolve(highest())
      },
    },
    clock: { now: () => 1_000 },
  })
  return { numbers, reads: () => reads }
}

test('counts up from the store with one read, also for concurrent requests', async () => {
  const { numbers, reads } = numbersOver(() => 7)
  expect(await Promise.all([1, 2, 3].map(() => numbers.take('w', 'live')))).toEqual([8, 9, 10])
  expect(reads()).toBe(1)
  expect(await numbers.take('w', 'test')).toBe(8)
})

test('a conflict counts from the store again, but never below what was given out', async () => {
  let stored = 0
  const { numbers } = numbersOver(() => stored)
  const given = await Promise.all([1, 2, 3, 4].map(() => numbers.take('w', 'live')))
  expect(given).toEqual([1, 2, 3, 4])
  stored = 2
  numbers.conflicted('w', 'live', 2)
  expect(await numbers.take('w', 'live')).toBe(5)
})

test('late news about a number from before the last read changes nothing', async () => {
  const { numbers, reads } = numbersOver(() => 0)
  await numbers.take('w', 'live')
  await numbers.take('w', 'live')
  numbers.conflicted('w', 'live', 1)
  await numbers.take('w', 'live')
  numbers.conflicted('w', 'live', 2)
  await numbers.take('w', 'live')
  expect(reads()).toBe(2)
})

test('a second conflict within a minute reserves blocks of 16', async () => {
  let stored = 0
  const { numbers, reads } = numbersOver(() => stored)
  numbers.conflicted('w', 'live', await numbers.take('w', 'live'))
  numbers.conflicted('w', 'live', await numbers.take('w', 'live'))
  stored = 5
  const block = []
  for (let i = 0; i < 16; i++) block.push(await numbers.take('w', 'live'))
  expect([block[0], block[15]]).toEqual([17, 32])
  stored = 40
  expect(await numbers.take('w', 'live')).toBe(49)
  expect(reads()).toBe(4)
})

// Guarantee: no number is given twice, also by a process that lived on while the store came back from an earlier time.
test('continues above the lost numbers of other processes after the connection was lost', async () => {
  const stored = new Set<number>()
  let [floor, losses] = [0, 0]
  const deps = {
    invoices: { highestNumber: async () => Math.max(floor, 0, ...stored) },
    marks: { ...NO_MARKS, lowestNumber: async () => floor },
    clock: { now: () => 1_000_000 },
    storeLosses: () => losses,
  }
  const [idle, busy] = [createInvoiceNumbers(deps), createInvoiceNumbers(deps)]
  stored.add(await idle.take('w', 'live'))
  const lost: number[] = []
  for (let count = 0; count < 20; count += 1) lost.push(await busy.take('w', 'live'))
  floor = 1_021
  losses = 1
  expect(await idle.take('w', 'live')).toBe(1_022)
  expect(lost).not.toContain(await idle.take('w', 'live'))
})
