import { createHash } from 'node:crypto'
import { base58 } from '@scure/base'
import type { Family } from '#shared/domain/enumerations.ts'
import type { AddressBook } from '#shared/ports/chain-catalog.ts'
import { solanaAddress } from './chain-forms.ts'

/** Address and match key of a key's index: digests in the place of curve arithmetic, which is tested elsewhere and slow. */
export function simAddress(xpub: string, index: number, family: Family = 'evm'): { address: string; matchKey: string } {
  const digest = createHash('sha256').update(`${xpub}/${index}`).digest('hex')
  const matchKey = digest.slice(0, family === 'solana' ? 64 : 40)
  return { address: family === 'solana' ? solanaAddress(matchKey) : `0x${matchKey}`, matchKey }
}

/** The match key of an address that {@link simAddress} made. */
export function simMatchKey(address: string): string {
  return address.startsWith('0x') ? address.slice(2) : Buffer.from(base58.decode(address)).toString('hex')
}

const sandboxOf = (family: Family) => ({
  xpub: `xpub-sandbox-${family}`,
  fingerprint: digest(`sandbox-${family}`),
  scriptType: null,
})
const keyOf = (value: string) => ({ xpub: value, fingerprint: digest(value), scriptType: null, path: 'm' })
const digest = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 32)

/** The address book of the simulation. Any text is a key, any `0x…` of a list an address. */
export const simAddressBook: AddressBook = {
  readings: (_family, _mode, value) => [keyOf(value)],
  normalise: (_family, _mode, value) => keyOf(value),
  accountPath: () => 'm',
  derive: (family, _mode, xpub, from, count) =>
    Array.from({ length: count }, (_, offset) => ({
      index: from + offset,
      ...simAddress(xpub, from + offset, family),
    })),
  verify: () => undefined,
  parseAddresses: (_family, value) => ({
    addresses: value.split('\n').map((address) => ({ address, matchKey: simMatchKey(address) })),
    repeated: 0,
  }),
  verifyControl: () => false,
  sandboxKey: sandboxOf,
}
