import { expect, test } from 'vitest'
import { changeParams, readFilters } from './url-filters.ts'

const defaults = { status: 'all', q: '' }

test('a URL names only what differs from the defaults', () => {
  expect(readFilters(new URLSearchParams('status=paid'), defaults)).toEqual({ status: 'paid', q: '' })
  expect(changeParams(new URLSearchParams('status=paid'), defaults, { status: 'all', q: 'a b' }).toString()).toBe(
    'q=a+b',
  )
})

test('a changed filter starts at the first page and keeps what is not its own', () => {
  const next = changeParams(new URLSearchParams('after=abc&range=14'), defaults, { status: 'new' })
  expect(next.toString()).toBe('range=14&status=new')
})
