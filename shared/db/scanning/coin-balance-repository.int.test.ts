import { beforeEach, describe, expect, it } from 'vitest'
import type { BalanceCheck } from '#shared/ports/native-balances.ts'
import { ScannerFenced } from '#shared/ports/payments.ts'
import { useStores } from '#test/support/stores.ts'
import { COIN_BALANCES } from './coin-balance-model.ts'
import { createCoinBalanceRepository } from './coin-balance-repository.ts'

const stores = useStores()
const repository = () => createCoinBalanceRepository(stores.db)
beforeEach(() => stores.db.collection(COIN_BALANCES).deleteMany({}))

const check = (height: number, overrides: Partial<BalanceCheck> = {}): BalanceCheck => ({
  height,
  hash: `0x${height}`,
  balanceBase: 10n ** 30n + 1n,
  flowBase: 0n,
  through: { height, hash: `0x${height}` },
  ...overrides,
})
const save = (epoch: number, ...checks: readonly BalanceCheck[]) =>
  repository().save('test', 'ethereum', [{ matchKey: 'aa', checks }], epoch)

describe('checks of balances', () => {
  it('are read back whole, by mode, network and account', async () => {
    const late = check(7, { flowBase: -(10n ** 25n), through: { height: 9, hash: '0x9' } })
    await save(1, check(5), late)
    expect(await repository().find('test', 'ethereum', ['aa', 'bb'])).toEqual([
      { matchKey: 'aa', checks: [check(5), late] },
    ])
    expect(await repository().find('live', 'ethereum', ['aa'])).toEqual([])
    expect(await repository().find('test', 'base', ['aa'])).toEqual([])
    await save(1)
    expect(await repository().find('test', 'ethereum', ['aa'])).toEqual([{ matchKey: 'aa', checks: [] }])
  })

  // Guarantee: a scanner that lost its lease overwrites nothing of its successor.
  it('of an older lease are refused', async () => {
    await save(2, check(5))
    await expect(save(1, check(4))).rejects.toThrow(ScannerFenced)
    expect(await repository().find('test', 'ethereum', ['aa'])).toEqual([{ matchKey: 'aa', checks: [check(5)] }])
    await save(3, check(6))
    expect(await repository().find('test', 'ethereum', ['aa'])).toEqual([{ matchKey: 'aa', checks: [check(6)] }])
  })
})
