import { expect, test } from 'vitest'
import { toBaseUnits } from './to-base-units.ts'

test.each([
  ['249.85', '249850000'],
  ['249,85', '249850000'],
  [' 0,125 ', '125000'],
  ['1000', '1000000000'],
  ['1234,500', '1234500000'],
])('%s is %s base units', (typed, base) => {
  expect(toBaseUnits(typed, 6)).toBe(base)
})

// Guarantee: money is never valued at a thousandth of what a person meant.
test.each(['1,000', '250,000', '1,000.50', '0', '', 'ten', '0.0000001'])('%s is refused', (typed) => {
  expect(toBaseUnits(typed, 6)).toBeNull()
})
