import { expect, test } from 'vitest'
import { diffJson } from './json-diff.ts'

const diff = (left: unknown, right: unknown) => diffJson(JSON.stringify(left), JSON.stringify(right))

test('names changed, added and removed fields by their path, in their order', () => {
  const left = { id: 'evt_1', data: { status: 'pending', gone: 1, payments: [{ amount: '1.00' }] } }
  const right = {
    id: 'evt_2',
    data: { status: 'paid', payments: [{ amount: '2.50' }, { amount: '1' }], paid_at: null },
  }
  expect(diff(left, right)).toEqual([
    { path: 'id', before: '"evt_1"', after: '"evt_2"' },
    { path: 'data.status', before: '"pending"', after: '"paid"' },
    { path: 'data.gone', before: '1', after: null },
    { path: 'data.payments[0].amount', before: '"1.00"', after: '"2.50"' },
    { path: 'data.payments[1]', before: null, after: '{"amount":"1"}' },
    { path: 'data.paid_at', before: null, after: 'null' },
  ])
})

test('the order of fields is no difference, types are', () => {
  expect(diff({ a: 1, b: [1, 2] }, { b: [1, 2], a: 1 })).toEqual([])
  expect(diff({ a: '1' }, { a: 1 })).toEqual([{ path: 'a', before: '"1"', after: '1' }])
  expect(diff({ a: [] }, { a: {} })).toEqual([{ path: 'a', before: '[]', after: '{}' }])
  expect(diff(1, 2)).toEqual([{ path: '', before: '1', after: '2' }])
})

/** Attack: a receiver answers with names that objects have anyway. */
test('names of inherited properties are names like others', () => {
  expect(diffJson('{}', '{"__proto__":{"x":1},"toString":2}')).toEqual([
    { path: '__proto__', before: null, after: '{"x":1}' },
    { path: 'toString', before: null, after: '2' },
  ])
})

test('texts that are not JSON are compared by nobody', () => {
  expect(diffJson('<html>', '{}')).toBeNull()
  expect(diffJson('{}', '')).toBeNull()
})
