import { expect, test } from 'vitest'
import { PAYMENT_FIELDS, PRICING_FIELDS, sentencesOf, typedNumber } from './number-fields.ts'

const [minutes, percent] = PRICING_FIELDS

test('typed numbers are understood or refused, never guessed', () => {
  if (minutes === undefined || percent === undefined) throw new Error('fields are missing')
  expect(typedNumber(minutes, ' 20 ')).toBe(1_200_000)
  expect(typedNumber(percent, '1,25')).toBe(125)
  expect(typedNumber(percent, '0')).toBe(0)
  for (const bad of ['', '4', '1441', '1.000,5', '1e3', '-5', '٣', 'abc'])
    expect(typedNumber(minutes, bad), bad).toBeNull()
})

test('the usual value of every rule is within its bounds', () => {
  for (const field of [...PRICING_FIELDS, ...PAYMENT_FIELDS])
    expect(typedNumber(field, String(field.usual)), field.key).not.toBeNull()
})

test('a rule of two numbers is one sentence', () => {
  const sentences = sentencesOf(PAYMENT_FIELDS).map((fields) => fields.map(({ key }) => key))
  expect(sentences).toContainEqual(['lateGraceMs', 'lateDriftBps'])
  expect(sentences.flat()).toEqual(PAYMENT_FIELDS.map(({ key }) => key))
})
