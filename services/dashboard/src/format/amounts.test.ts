import { expect, test } from 'vitest'
import { readAmount, shorten, showAxisTick, showDecimal, showShare } from './amounts.ts'

// Guarantee: an amount on a page is the amount in the store, digit for digit, at any size.
test('decimals are grouped and never rounded', () => {
  expect(showDecimal('1250.00')).toBe('1,250.00')
  expect(showDecimal('38900')).toBe('38,900')
  expect(showDecimal('9007199254740993.10')).toBe('9,007,199,254,740,993.10')
  expect(showDecimal('0.05')).toBe('0.05')
  expect(showDecimal('-0.05')).toBe('−0.05')
})

// Guarantee: a typed amount is never guessed; what could be a thousand or a fraction is refused.
test('a typed amount has one separator and no groups', () => {
  expect(readAmount(' 1250,5 ', 2)).toEqual({ value: '1250.5' })
  expect(readAmount('0012.50', 2)).toEqual({ value: '12.50' })
  expect(readAmount('1.250', 2)).toEqual({ problem: 'Enter the amount without thousands separators, e.g. 1250.50.' })
  expect(readAmount('1,250.50', 2)).toEqual({ problem: 'Enter the amount without thousands separators, e.g. 1250.50.' })
  expect(readAmount('1250.505', 2)).toEqual({ problem: 'At most 2 decimals.' })
  expect(readAmount('12.5', 0)).toEqual({ problem: 'This currency has no decimals.' })
  expect(readAmount('-1', 2)).toEqual({ problem: 'The amount must be above zero.' })
})

test('a share is whole only when nothing is missing', () => {
  expect(showShare(0.7261)).toBe('72.6 %')
  expect(showShare(0.99999)).toBe('99.9 %')
  expect(showShare(0.00001)).toBe('0.1 %')
  expect(showShare(1)).toBe('100 %')
  expect(showShare(0)).toBe('0 %')
})

test('ids keep both ends', () => {
  expect(shorten('a'.repeat(20) + 'b'.repeat(20))).toBe('aaaaaa…bbbbbb')
  expect(shorten('short')).toBe('short')
})

test('labels of an axis are never rounded to another amount', () => {
  expect([0, 350, 700, 1_050, 1_400].map(showAxisTick)).toEqual(['0', '350', '700', '1.05K', '1.4K'])
  expect([1_062.5, 12_345_678, 2_500_000, 0.25].map(showAxisTick)).toEqual(['1,062.5', '12,345,678', '2.5M', '0.25'])
})
