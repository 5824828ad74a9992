import { expect, test } from 'vitest'
import { safeBack } from './safe-back.ts'

// Guarantee: a link to the log-in page cannot lead a person to a foreign site afterwards.
test('only paths of this site are returned to', () => {
  expect(safeBack('/0190/live/invoices?status=paid')).toBe('/0190/live/invoices?status=paid')
  for (const bad of [
    null,
    '',
    'https://evil.example',
    '//evil.example',
    '/\\evil.example',
    '/\t/evil.example',
    'javascript:1',
  ]) {
    expect(safeBack(bad)).toBe('/')
  }
})
