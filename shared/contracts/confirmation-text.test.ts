import { expect, it } from 'vitest'
import { confirmationsText, parseConfirmations } from './confirmation-text.ts'

const TABLE = [
  { fromUsd: 0, confirmations: 1 },
  { fromUsd: 100, confirmations: 2 },
  { fromUsd: 10_000, confirmations: 'finalized' },
] as const

it.each([
  ['6', 6],
  [' Finalized ', 'finalized'],
  ['1, 100: 2, 10000: finalized', TABLE],
  ['0:1,100:2,10000:finalized', TABLE],
  ['1, from 100 USD: 2, from  10000: finalized', TABLE],
  ['0: 3', [{ fromUsd: 0, confirmations: 3 }]],
  ['5: 3', [{ fromUsd: 5, confirmations: 3 }]],
])('reads %j', (text, meant) => {
  expect(parseConfirmations(text)).toEqual(meant)
})

it.each([
  '',
  'six',
  '-1',
  '1.5',
  '1, 2',
  '1, 100',
  '1, 100:',
  ':2',
  '100: 2; 3',
  '1, 1e3: 2',
  '1,,100: 2',
  '99999999999: 1',
])('does not guess what %j means', (text) => {
  expect(parseConfirmations(text)).toBeNull()
})

it.each([7, 'finalized', TABLE, [{ fromUsd: 0, confirmations: 3 }]] as const)('prints %j as it is read', (given) => {
  expect(parseConfirmations(confirmationsText(given))).toEqual(given)
})
