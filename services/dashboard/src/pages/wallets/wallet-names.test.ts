import fc from 'fast-check'
import { expect, it } from 'vitest'
import { FAMILIES } from '#shared/domain/enumerations.ts'
import { walletNames } from './wallet-names.ts'

it('numbers wallets of one family in the order in which they were added', () => {
  const wallets = [
    { id: 'c', family: 'evm', createdAt: 3 },
    { id: 'a', family: 'evm', createdAt: 1 },
    { id: 'b', family: 'bitcoin', createdAt: 2 },
  ] as const
  expect([...walletNames(wallets)]).toEqual([
    ['c', 'Ethereum and other EVM networks, wallet 2 of 2'],
    ['a', 'Ethereum and other EVM networks, wallet 1 of 2'],
    ['b', 'Bitcoin'],
  ])
})

it('gives no two wallets one name', () => {
  const wallet = fc.record({ id: fc.uuid(), family: fc.constantFrom(...FAMILIES), createdAt: fc.nat(3) })
  fc.assert(
    fc.property(fc.uniqueArray(wallet, { selector: ({ id }) => id }), (wallets) => {
      const names = walletNames(wallets)
      expect(new Set(names.values()).size).toBe(wallets.length)
    }),
  )
})
