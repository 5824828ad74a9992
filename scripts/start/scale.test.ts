import { expect, it } from 'vitest'
import { instancesOf, parseScale } from './scale.ts'

it('reads counts by process type, together or apart', () => {
  expect(parseScale(['webhooks=4', 'api=2, invoices=2'])).toEqual({ webhooks: 4, api: 2, invoices: 2 })
  expect(parseScale([])).toEqual({})
})

it.each(['webhook=4', 'api', 'api=0', 'api=33', 'api=-1', 'api=two', ''])('refuses %j and names the types', (text) => {
  expect(() => parseScale([text])).toThrow(/--scale takes NAME=1 to 32 .*webhooks.*api/)
})

it('keeps the plain name for the first process of a type', () => {
  expect(instancesOf('webhooks', { webhooks: 3 }).map(({ name }) => name)).toEqual([
    'webhooks',
    'webhooks-2',
    'webhooks-3',
  ])
  expect(instancesOf('rates', { webhooks: 3 }).map(({ name }) => name)).toEqual(['rates'])
})
