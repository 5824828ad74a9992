import { expect, test } from 'vitest'
import { chipOf } from './filter-chip.ts'

const defaults = { status: 'all', q: '' }
const options = [{ value: 'paid', label: 'Paid' }]

test('a filter has a chip while it differs from its default, in the words of its choices', () => {
  expect(chipOf(defaults, defaults, 'status', 'Status', options)).toEqual([])
  const set = { status: 'paid', q: '#7' }
  expect(chipOf(set, defaults, 'status', 'Status', options)).toEqual([
    { label: 'Status', value: 'Paid', removal: { status: 'all' } },
  ])
  expect(chipOf(set, defaults, 'q', 'Search')).toEqual([{ label: 'Search', value: '#7', removal: { q: '' } }])
})

test('a value from an address that is no choice filters nothing and has no chip', () => {
  expect(chipOf({ status: 'stolen', q: '' }, defaults, 'status', 'Status', options)).toEqual([])
})
