import { expect, test } from 'vitest'
import { groupStory } from './group-story.ts'

const entry = (id: string, kind: string, event: string | null = null) => ({
  ...{ id, kind, event: event === null ? null : { id: event } },
})
const story = [
  entry('d2', 'delivery', 'e2'),
  entry('d3', 'delivery', 'gone'),
  entry('e2', 'event', 'e2'),
  entry('p1', 'payment'),
  entry('d1', 'delivery', 'e1'),
  entry('e1', 'event', 'e1'),
]
const idsOf = (entries: readonly { readonly id: string }[]) => entries.map(({ id }) => id)

test('deliveries stand below their event, and those without one for themselves', () => {
  const { moments, deliveriesOf } = groupStory(story, 'all')
  expect(idsOf(moments)).toEqual(['d3', 'e2', 'p1', 'e1'])
  expect(moments.map((one) => idsOf(deliveriesOf(one)))).toEqual([[], ['d2'], [], ['d1']])
})

test('deliveries alone are a flat list', () => {
  const { moments, deliveriesOf } = groupStory(story, 'delivery')
  expect(idsOf(moments)).toEqual(['d2', 'd3', 'd1'])
  expect(moments.flatMap(deliveriesOf)).toEqual([])
})
