import fc from 'fast-check'
import { expect, it } from 'vitest'
import { readTypedNumber, type TypedFault } from './typed-number.ts'

// Guarantee: each text is refused for what is wrong with it, and nothing is guessed.
it.each<[string, TypedFault]>([
  ['', 'empty'],
  ['   ', 'empty'],
  ['abc', 'text'],
  ['1e3', 'text'],
  ['+5', 'text'],
  ['.5', 'text'],
  ['1250.', 'text'],
  ['١٢', 'text'],
  ['5 USD', 'text'],
  ['-5', 'negative'],
  ['−5,00', 'negative'],
  ['1.250', 'grouped'],
  ['1,250', 'grouped'],
  ['1 250', 'grouped'],
  ["1'250", 'grouped'],
  ['1.250,00', 'grouped'],
  ['1,234,567', 'grouped'],
  ['12.345', 'grouped'],
  ['12.3456', 'decimals'],
  ['1250.505', 'decimals'],
  ['0.001', 'decimals'],
  ['1234567890123', 'huge'],
  ['0', 'zero'],
  ['0.00', 'zero'],
])('%j is refused: %s', (text, fault) => expect(readTypedNumber(text, 2)).toEqual({ fault }))

it('reads a decimal comma and a decimal point, spaces around, and leading zeros', () => {
  for (const [text, value] of [
    ['1250', '1250'],
    [' 1250.5 ', '1250.5'],
    ['1250,50', '1250.50'],
    ['0,25', '0.25'],
    ['007', '7'],
  ] as const)
    expect(readTypedNumber(text, 2)).toEqual({ value })
  expect(readTypedNumber('1.234', 8)).toEqual({ value: '1.234' })
  expect(readTypedNumber('1,234', 8)).toEqual({ fault: 'grouped' })
  expect(readTypedNumber('1250.5', 0)).toEqual({ fault: 'decimals' })
})

it('what it reads is the number that was typed', () => {
  const digits = fc
    .tuple(fc.nat({ max: 999_999_999 }), fc.nat({ max: 99 }))
    .filter(([whole, cents]) => whole + cents > 0)
  fc.assert(
    fc.property(digits, fc.constantFrom('.', ','), ([whole, cents], separator) => {
      const text = `${whole}${separator}${String(cents).padStart(2, '0')}`
      expect(readTypedNumber(text, 2)).toEqual({ value: text.replace(',', '.') })
    }),
  )
})
