import { expect, it } from 'vitest'
import { otlpHeaders, samplerShare } from './otel.ts'

it('reads the headers of a collector', () => {
  expect(otlpHeaders.parse('Api-Key=abc, x-tenant = a%20b%3D')).toEqual({ 'api-key': 'abc', 'x-tenant': 'a b=' })
})

// Guarantee: no setting adds its own header line.
it.each(['', 'x', '=x', 'x=', 'a b=c', 'x=a%0d%0ab', 'x=%zz', 'x=1,,y=2', 'x=é'])('refuses %j', (text) => {
  expect(otlpHeaders.safeParse(text).success).toBe(false)
})

it.each(['2', '-1', 'x', '', '1.5'])('refuses the share %j', (text) => {
  expect(samplerShare.safeParse(text).success).toBe(false)
})

it.each(['0', '1', '0.25', '1.0'])('takes the share %s', (text) => {
  expect(samplerShare.parse(text)).toBe(Number(text))
})
