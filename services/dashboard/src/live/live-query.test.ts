import { expect, test } from 'vitest'
import { routerOf, routersOf } from './live-query.ts'

test('a change of an invoice refreshes what shows invoices, and nothing of wallets', () => {
  expect(routersOf('invoice')).toContain('invoices')
  expect(routersOf('invoice')).not.toContain('wallets')
  expect(routersOf('all')).toBeNull()
})

test('a query names its router by its key', () => {
  expect(routerOf([['invoices', 'list'], { input: {}, type: 'query' }])).toBe('invoices')
  expect(routerOf(['find', 'ws'])).toBe('')
})
