import { expect, test } from 'vitest'
import { holdRows } from './held-rows.ts'

const rows = (...ids: string[]) => ids.map((id) => ({ id: id[0] ?? '', text: id }))
const idOf = (row: { id: string }) => row.id

test('a changed row is replaced where it stands and new ones wait', () => {
  const held = holdRows(rows('c', 'b', 'a'), rows('e', 'd', 'c', 'b2'), idOf)
  expect(held.waiting).toBe(2)
  expect(held.shown.map(({ text }) => text)).toEqual(['c', 'b2', 'a'])
})

test('without new rows the list is what the server says', () => {
  expect(holdRows(rows('c', 'b', 'a'), rows('c', 'a'), idOf)).toEqual({ shown: rows('c', 'a'), waiting: 0 })
})

test('a row that left between others goes, and another list is shown at once', () => {
  expect(holdRows(rows('c', 'b', 'a'), rows('d', 'c', 'a'), idOf).shown.map(({ text }) => text)).toEqual(['c', 'a'])
  expect(holdRows(rows('c', 'b'), rows('x', 'y'), idOf)).toEqual({ shown: rows('x', 'y'), waiting: 0 })
  expect(holdRows([], rows('x'), idOf)).toEqual({ shown: rows('x'), waiting: 0 })
})
