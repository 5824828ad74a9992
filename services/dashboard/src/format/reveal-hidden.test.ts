import { expect, test } from 'vitest'
import { revealHidden } from './reveal-hidden.ts'

// Guarantee: a file name, order or note cannot be turned around or hidden by control characters.
test('bidi overrides, zero-width and control characters are shown', () => {
  expect(revealHidden('invoice\u202efdp.exe')).toBe('invoice␦fdp.exe')
  expect(revealHidden('pay\u200bpal\u0007 \u{e0041}')).toBe('pay␦pal␦ ␦')
  expect(revealHidden('Ñandú, 支付 ₿\nnext')).toBe('Ñandú, 支付 ₿\nnext')
})
