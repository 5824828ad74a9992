import { describe, expect, it } from 'vitest'
import { hasLongName, NAME_MAX } from './value-count.ts'

const FILL = `"${'x'.repeat(2 ** 22)}"`
const long = 'k'.repeat(NAME_MAX + 1)

describe('hasLongName', () => {
  it.each([
    ['a long name', `{"a":${FILL},"${long}":1}`],
    ['one with escapes', `{"a":${FILL},"${'\\"'.repeat(NAME_MAX)}":1}`],
    ['one behind a string that ends with backslashes', `{"a":${FILL},"b":"\\\\","${long}":1}`],
    ['one with space before its colon', `{"a":${FILL},"${long}"${' '.repeat(10_000)}\n:1}`],
  ])('finds %s', (_what, text) => {
    expect(() => JSON.parse(text)).not.toThrow()
    expect(hasLongName(text)).toBe(true)
  })

  it.each([
    ['long values', `{"a":${FILL},"b":["${long}","${long}"]}`],
    ['a long value with what looks like the end of a name', `{"a":${FILL},"b":"${long}\\":${long}"}`],
    ['the longest name', `{"a":${FILL},"${'k'.repeat(NAME_MAX - 1)}":1}`],
    ['a text that ends inside of a string', `{"a":${FILL},"${long}`],
    ['a text that is not large', `{"${long}":1}`],
  ])('passes %s', (_what, text) => expect(hasLongName(text)).toBe(false))
})
