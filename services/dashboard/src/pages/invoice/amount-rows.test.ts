import { expect, test } from 'vitest'
import { amountRows } from './amount-rows.ts'

const coins = {
  ...({ asset: 'usdt_ethereum', symbol: 'USDT', network: 'ethereum', networkName: 'Ethereum', decimals: 6 } as const),
  ...{ due: '25', received: '12', seen: '12', confirmed: '12', left: '13' },
  ...{ dueBase: '25000000', seenBase: '12000000', confirmedBase: '12000000' },
}

// Guarantee: what came is shown as what came, whatever went back or counts for nothing.
test('received is all that came, and what of it counts has its own row where that is less', () => {
  expect(amountRows('partial', coins)).toEqual([
    ...[
      ['Due', '25'],
      ['Received', '12'],
      ['Confirmed', '12'],
      ['Left to pay', '13'],
    ],
  ])
  expect(amountRows('partial', { ...coins, seen: '0', confirmed: '0', left: '25' })).toEqual([
    ...[
      ['Due', '25'],
      ['Received', '12'],
      ['Counted', '0'],
      ['Confirmed', '0'],
      ['Left to pay', '25'],
    ],
  ])
  expect(amountRows('paid', { ...coins, received: '37', seen: '25', confirmed: '25', left: '0' })).toEqual([
    ...[
      ['Due', '25'],
      ['Received', '37'],
      ['Counted', '25'],
      ['Confirmed', '25'],
    ],
  ])
  expect(amountRows('paid', { ...coins, left: '13' })).toContainEqual(['Not received', '13'])
})
