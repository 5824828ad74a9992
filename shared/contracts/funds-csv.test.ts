import { expect, it } from 'vitest'
import type { FundsLine } from '#shared/domain/funds/funds-line.ts'
import { fundsCsv } from './funds-csv.ts'

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

// Guarantee: no file shows an unknown balance as nothing.
it('writes unknown figures as words and leaves out what is empty', () => {
  const lines = [
    line({}),
    line({ balance: null, fee: null, balanceFiat: null, feeFiat: null }),
    line({ balance: '0.00' }),
  ]
  const [head, ...rows] = fundsCsv(lines).trimEnd().split('\r\n')
  expect(head).toMatch(/^\uFEFFnetwork,address,derivation_path,asset,balance,/)
  expect(rows).toEqual([
    "ethereum,0x1,m/44'/60'/0'/0/3,usdt_ethereum,10.5,0.001,ETH,0,EUR,9.80,2.00",
    "ethereum,0x1,m/44'/60'/0'/0/3,usdt_ethereum,unknown,unknown,ETH,unknown,EUR,unknown,unknown",
  ])
  // Whether coins are needed first is part of the cost.
  expect(fundsCsv([line({ fee: null, feeFiat: null })])).toContain(',10.5,unknown,ETH,unknown,EUR,9.80,unknown')
  expect(fundsCsv([line({ balanceFiat: null, feeFiat: null })])).toContain('EUR,no rate,no rate')
})

it('runs no formula in a spreadsheet, and quotes what would break a row', () => {
  const csv = fundsCsv(['=HYPERLINK("http://x")', 'a,b', ' ＝1', 'a;b'].map((address) => line({ address })))
  expect(csv).toContain(`"'=HYPERLINK(""http://x"")"`)
  expect(csv).toContain('"a,b"')
  // As in every other file: full-width signs, and the separator where decimals have a comma.
  expect(csv).toContain("' ＝1")
  expect(csv).toContain('"a;b"')
})
