import { expect, it } from 'vitest'
import { createAddressBook } from '#shared/chains/addresses/address-book.ts'
import { SANDBOX_KEYS } from '#shared/chains/addresses/sandbox-keys.ts'
import { FAMILIES } from '#shared/domain/enumerations.ts'
import { sandboxAddressBook } from './sandbox-address-book.ts'

it.each(FAMILIES)('gives the addresses of the product for %s, kept ones and new ones', (family) => {
  const [kept, real] = [sandboxAddressBook(), createAddressBook()]
  const key = SANDBOX_KEYS[family]
  for (const [from, count] of [
    [0, 3],
    [1, 4],
    [0, 2],
    [7, 1],
  ] as const) {
    expect(kept.derive(family, 'test', key, from, count)).toEqual(real.derive(family, 'test', key, from, count))
  }
  expect(kept.derive(family, 'live', key, 0, 1)).toEqual(real.derive(family, 'live', key, 0, 1))
})
