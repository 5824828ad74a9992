import { expect, test } from 'vitest'
import { readSorting, sortRows } from './list-order.ts'

const rows = [
  { id: 'a', name: 'Shop 10', at: 5 },
  { id: 'b', name: 'shop 2', at: null },
  { id: 'c', name: 'Bar', at: 9 },
  { id: 'd', name: 'SHOP 2', at: 5 },
]
const idsBy = (key: (row: (typeof rows)[number]) => string | number | null, isDescending: boolean) =>
  sortRows(rows, key, isDescending)
    .map(({ id }) => id)
    .join('')

test('names are in the order of a dictionary, numbers in them by size, and equal rows keep their order', () => {
  expect(idsBy(({ name }) => name, false)).toBe('cbda')
  expect(idsBy(({ name }) => name, true)).toBe('abdc')
})

test('rows without a value come last in both directions', () => {
  expect(idsBy(({ at }) => at, false)).toBe('adcb')
  expect(idsBy(({ at }) => at, true)).toBe('cadb')
})

test('an order in the URL is the header of a column', () => {
  expect(readSorting('')).toBeNull()
  expect(readSorting('Last used')).toEqual({ header: 'Last used', isDescending: false })
  expect(readSorting('-Last used')).toEqual({ header: 'Last used', isDescending: true })
})
