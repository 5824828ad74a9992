import { describe, expect, it } from 'vitest'
import { createAddressBook } from '#shared/chains/addresses/address-book.ts'
import { SANDBOX_KEYS } from '#shared/chains/addresses/sandbox-keys.ts'
import { createSecretBox } from '#shared/runtime/secrets/secret-box.ts'
import type { Store } from '#shared/usecases/uses.ts'
import { standIn } from '#test/support/stand-in.ts'
import { newKeyMaterial } from './key-material.ts'
import { verifyKeys } from './verify-keys.ts'

const secretBox = createSecretBox(new Uint8Array(32).fill(7))
const addressBook = createAddressBook()
const key = {
  mode: 'live',
  family: 'tron',
  xpub: SANDBOX_KEYS.tron,
  fingerprint: 'f',
  sandbox: false,
  scriptType: null,
} as const
const clock = { now: () => 0 }
const stored = newKeyMaterial({ secretBox, clock }, key)

describe('the check of stored keys at start', () => {
  it('asks the second library about every family and every stored key that can be read', async () => {
    const requests: string[] = []
    const book = {
      sandboxKey: addressBook.sandboxKey,
      verify: (...[family, mode, xpub]: Parameters<typeof addressBook.verify>) => {
        requests.push(`${mode} ${family}`)
        addressBook.verify(family, mode, xpub)
      },
    }
    const unreadable = newKeyMaterial({ secretBox: createSecretBox(new Uint8Array(32).fill(8)), clock }, key)
    const pool = { ...stored, kind: 'pool' as const, sealed: '' }
    await verifyKeys({
      wallets: standIn({ listMaterials: async () => [stored, unreadable, pool] }),
      addressBook: standIn(book),
      secretBox,
    })
    expect(requests).toHaveLength(13)
    expect(requests.at(-1)).toBe('live tron')
  })

  // Guarantee: a process that would hand out addresses nobody has the keys of does not start.
  it('throws when an address differs', async () => {
    const verify = (family: string) => {
      if (family === 'litecoin') throw new Error('differs')
    }
    const deps = { wallets: standIn<Store['wallets']>({ listMaterials: async () => [] }), secretBox }
    await expect(
      verifyKeys({ ...deps, addressBook: standIn({ sandboxKey: addressBook.sandboxKey, verify }) }),
    ).rejects.toThrow('differs')
  })
})
