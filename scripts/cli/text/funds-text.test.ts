import { expect, test } from 'vitest'
import type { FundsLine } from '#shared/domain/funds/funds-line.ts'
import { fundsText, isComplete, type NetworkFunds } from './funds-text.ts'

const line = (balance: string | null): FundsLine => ({
  ...{ network: 'ethereum', address: '0x00000000000000000000000000000000000000a1', path: null },
  ...{ asset: 'eth_ethereum', symbol: 'ETH', balance, fee: null, feeSymbol: 'ETH', topUp: '0' },
  ...{ currency: 'USD', balanceFiat: null, feeFiat: null },
})
const reading = (change: Partial<NetworkFunds>): NetworkFunds => ({
  ...{ network: 'ethereum', lines: [], addresses: 20, height: 5, faults: [], isCut: false, fees: [] },
  ...change,
})

test('a total is exact when every address was read and every balance is known', () => {
  const found = [reading({ lines: [line('1.5')] })]
  expect(isComplete(found)).toBe(true)
  const text = fundsText(found, 'funds.csv')
  expect(text).toContain('\nethereum: 1.5 ETH on 1 addresses\nwritten to funds.csv')
  expect(text).not.toMatch(/at least|incomplete/)
})

// Guarantee: a reading that ended before the last address never looks like the whole.
test('a reading that was cut says "at least", also in what it says of the file, and is not complete', () => {
  const found = [reading({ lines: [line('1.5')], isCut: true })]
  expect(isComplete(found)).toBe(false)
  const text = fundsText(found, 'funds.csv')
  expect(text).toContain('ethereum: at least 1.5 ETH on 1 addresses')
  expect(text).toContain('only the first 20 used addresses were read')
  expect(text).toContain('written to funds.csv, which is incomplete')
})

test('no balance on the addresses that were read is not said of the others', () => {
  expect(fundsText([reading({ lines: [line('0')] })])).toBe('no used address holds anything')
  const cut = fundsText([reading({ lines: [line('0')], isCut: true })])
  expect(cut).toMatch(/^no address that was read holds anything\n/)
})

test('an unknown balance makes a reading incomplete', () => {
  const found = [reading({ lines: [line('1.5'), line(null)] })]
  expect(isComplete(found)).toBe(false)
  expect(fundsText(found)).toContain('at least 1.5 ETH on 1 addresses; 1 balances are unknown')
})
