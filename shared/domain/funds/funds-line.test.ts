import { expect, it } from 'vitest'
import { type FundsLine, fundsTotals } from './funds-line.ts'

const line = (change: Partial<FundsLine>): FundsLine => ({
  network: 'ethereum',
  address: '0x1',
  path: "m/44'/60'/0'/0/3",
  asset: 'usdt_ethereum',
  symbol: 'USDT',
  balance: '10.5',
  fee: '0.001',
  feeSymbol: 'ETH',
  topUp: '0',
  currency: 'EUR',
  balanceFiat: '9.80',
  feeFiat: '2.00',
  ...change,
})

it('adds exactly, and counts what is missing in the sum', () => {
  const digits = '9007199254740993.000000000000000001'
  const totals = fundsTotals([
    line({ asset: 'eth_ethereum', symbol: 'ETH', balance: digits }),
    line({ asset: 'eth_ethereum', symbol: 'ETH', balance: '1' }),
    line({ asset: 'eth_ethereum', symbol: 'ETH', balance: null }),
    line({ balance: '0' }),
  ])
  expect(totals).toEqual([
    {
      network: 'ethereum',
      asset: 'eth_ethereum',
      symbol: 'ETH',
      balance: '9007199254740994.000000000000000001',
      unknown: 1,
      addresses: 2,
    },
  ])
})
