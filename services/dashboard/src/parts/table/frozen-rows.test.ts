import { describe, expect, test } from 'vitest'
import { type Answer, holdRows, type ShownRows, showRows } from './frozen-rows.ts'

interface Row {
  readonly id: string
  readonly text: string
}
const rows = (...ids: string[]): Row[] => ids.map((id) => ({ id: id[0] ?? '', text: id }))
const idOf = (row: Row) => row.id

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

describe('what a list shows', () => {
  const answer = (key: string, ids: readonly string[], more: Partial<Answer<Row>> = {}): Answer<Row> => ({
    ...{ key, rows: rows(...ids), answeredAt: 10, isFetching: false, isPlaceholder: false, ownChangeAt: 0 },
    ...more,
  })
  const play = (...answers: readonly Answer<Row>[]) =>
    answers.reduce<ShownRows<Row> | null>((before, now) => showRows(before, now, idOf), null)
  const idsOf = (shown: ShownRows<Row> | null) => shown?.shown.map(({ id }) => id)

  // Guarantee: no row of one filter is ever shown as a row of another, and none of the new filter's rows waits.
  test('another filter: rows of the one before are marked as such and leave with the answer', () => {
    const first = answer('all', ['c', 'b', 'a'])
    const loading = play(first, answer('expired', ['c', 'b', 'a'], { isPlaceholder: true }))
    expect(loading?.key).toBeNull()
    const loaded = play(
      first,
      answer('expired', ['c', 'b', 'a'], { isPlaceholder: true }),
      answer('expired', ['z', 'b'], { answeredAt: 20 }),
    )
    expect(idsOf(loaded)).toEqual(['z', 'b'])
    expect(loaded).toMatchObject({ key: 'expired', waiting: 0 })
  })

  test('the same list asked under another name of its query stays as it is', () => {
    const shown = play(answer('all', ['b', 'a']), answer('all', ['x'], { isPlaceholder: true }))
    expect(idsOf(shown)).toEqual(['b', 'a'])
  })

  test('what others add waits', () => {
    const shown = play(answer('all', ['b', 'a']), answer('all', ['c', 'b', 'a'], { answeredAt: 20 }))
    expect(idsOf(shown)).toEqual(['b', 'a'])
    expect(shown?.waiting).toBe(1)
    const first = answer('all', ['a'], { answeredAt: 0 })
    expect(play(first, answer('all', ['b', 'a'], { answeredAt: 20 }))?.waiting).toBe(1)
  })

  test('what this person added is on top in the answer that follows, and later additions wait again', () => {
    const own = [answer('all', ['b', 'a']), answer('all', ['c', 'b', 'a'], { answeredAt: 20, ownChangeAt: 15 })]
    expect(idsOf(play(...own))).toEqual(['c', 'b', 'a'])
    const later = play(...own, answer('all', ['d', 'c', 'b', 'a'], { answeredAt: 30, ownChangeAt: 15 }))
    expect(idsOf(later)).toEqual(['c', 'b', 'a'])
    expect(later?.waiting).toBe(1)
  })

  test('an own change shows what waited before it as well', () => {
    const shown = play(
      answer('all', ['a']),
      answer('all', ['b', 'a'], { answeredAt: 20 }),
      answer('all', ['c', 'b', 'a'], { answeredAt: 30, ownChangeAt: 25 }),
    )
    expect(idsOf(shown)).toEqual(['c', 'b', 'a'])
    expect(shown?.waiting).toBe(0)
  })

  test('a list opened from the cache takes the answer that was already on its way', () => {
    const cached = answer('all', ['b', 'a'], { isFetching: true })
    const fresh = answer('all', ['c', 'b', 'a'], { answeredAt: 20 })
    expect(idsOf(play(cached, fresh))).toEqual(['c', 'b', 'a'])
    const later = play(cached, fresh, answer('all', ['d', 'c'], { answeredAt: 30 }))
    expect(idsOf(later)).toEqual(['c', 'b'])
  })
})
