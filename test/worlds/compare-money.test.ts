import { describe, expect, it } from 'vitest'
import type { Income } from '#test/support/evm-oracle.ts'
import { differencesOf, type StoredMoney } from './compare-money.ts'

const ACCOUNT = '11'.repeat(20)
const DIRECT: Income = {
  ...{ height: 7, matchKey: ACCOUNT, asset: 'eth_ethereum', amountBase: 10n ** 15n, txHash: '0x01', feesBase: 0n },
}
const INSIDE: Income = { ...DIRECT, height: 8, txHash: null }
const BOOKS = { incomes: [DIRECT, INSIDE], movedByCode: new Set<string>() }
const SCENE = {
  isAttentive: true,
  wasBlind: false,
  isStateGone: false,
  unawaited: new Set<string>(),
  inInbox: new Set<string>(),
}
const row = ({ feesBase: _, ...income }: Income, change: Partial<StoredMoney> = {}): StoredMoney => ({
  ...income,
  ...change,
})
const RIGHT = [row(DIRECT), row(INSIDE)]

describe('what is stored', () => {
  it('is right when it is the books', () => {
    expect(differencesOf(BOOKS, RIGHT, SCENE)).toEqual([])
  })

  it.each([
    ['a payment is missing', [row(INSIDE)]],
    ['an increase is missing', [row(DIRECT)]],
    ['a payment is stored twice', [...RIGHT, row(DIRECT)]],
    ['an increase is stored twice', [...RIGHT, row(INSIDE)]],
    ['a payment is an increase as well', [...RIGHT, row(DIRECT, { txHash: null })]],
    ['an increase is in another block', [row(DIRECT), row(INSIDE, { height: 9 })]],
    ['an amount is another one', [row(DIRECT), row(INSIDE, { amountBase: 10n ** 15n + 1n })]],
    ['another account has it', [row(DIRECT), row(INSIDE, { matchKey: '22'.repeat(20) })]],
    ['another asset has it', [row(DIRECT, { asset: 'usdt_ethereum' }), row(INSIDE)]],
  ])('is wrong when %s', (_, stored) => {
    expect(differencesOf(BOOKS, stored, SCENE)).not.toEqual([])
  })

  it('may lack what a limit covers, and nothing else', () => {
    const dust = { ...DIRECT, amountBase: 1n }
    const books = { ...BOOKS, incomes: [dust, INSIDE] }
    expect(differencesOf(books, [row(INSIDE)], SCENE)).toEqual([])
    expect(differencesOf(books, [row(dust)], SCENE)).toHaveLength(1)
    expect(differencesOf(books, [row(dust), row(dust), row(INSIDE)], SCENE)).toHaveLength(1)
  })

  it('adds up where states are gone', () => {
    const books = { ...BOOKS, incomes: [INSIDE, { ...INSIDE, height: 9 }] }
    const gone = { ...SCENE, isStateGone: true, unawaited: new Set<string>() }
    const sum = row(INSIDE, { height: 12, amountBase: 2n * INSIDE.amountBase })
    expect(differencesOf(books, [sum], SCENE)).not.toEqual([])
    expect(differencesOf(books, [sum], gone)).toEqual([])
    expect(differencesOf(books, [{ ...sum, amountBase: sum.amountBase + 1n }], gone)).toHaveLength(1)
    expect(differencesOf(books, [{ ...sum, amountBase: sum.amountBase - 1n }], gone)).toHaveLength(1)
  })
})
