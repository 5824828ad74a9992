import { describe, expect, it } from 'vitest'
import { parseLosslessJson } from './lossless-json.ts'

describe('JSON with integers of 64 bits', () => {
  // Guarantee: no amount is rounded on its way out of an answer.
  it.each([
    ['9007199254740993', '9007199254740993'],
    ['9223372036854775807', '9223372036854775807'],
    ['-9223372036854775808', '-9223372036854775808'],
    ['999999999999999', 999_999_999_999_999],
    ['0', 0],
  ])('keeps %s exactly', (digits, value) => {
    expect(parseLosslessJson(`{"amount":${digits}}`)).toEqual({ amount: value })
    expect(parseLosslessJson(`[ ${digits} , ${digits}]`)).toEqual([value, value])
    expect(parseLosslessJson(digits)).toBe(value)
  })

  it('leaves strings, fractions and exponents alone', () => {
    const text =
      '{"a":"x\\":9007199254740993,\\\\","9007199254740993":0.12345678901234567,"b":12345678901234567.5,"c":1e-2}'
    expect(parseLosslessJson(text)).toEqual(JSON.parse(text))
  })

  it('refuses what is no JSON', () => {
    expect(() => parseLosslessJson('{"amount":90071992547409')).toThrow(SyntaxError)
    expect(() => parseLosslessJson('<html>9007199254740993</html>')).toThrow(SyntaxError)
  })
})
