import { sha256 } from '@noble/hashes/sha2.js'
import { createBase58check } from '@scure/base'
import { HDKey } from '@scure/bip32'
import { describe, expect, it } from 'vitest'
import { PaymeshError } from '#shared/contracts/errors.ts'
import type { Family, Mode } from '#shared/domain/enumerations.ts'
import { SCRIPT_TYPES } from '#shared/domain/script-type.ts'
import type { KeyRequest } from '#shared/ports/chain-catalog.ts'
import { ACCOUNT_KEY_VECTORS, BIP32_INVALID_KEYS, BIP32_PUBLIC_KEYS } from '#test/vectors/account-keys.ts'
import { createAddressBook } from './address-book.ts'
import { SANDBOX_KEYS } from './sandbox-keys.ts'

const book = createAddressBook()
const base58check = createBase58check(sha256)
/** BIP 39 seed of "abandon … about" without a passphrase, as in the BIPs. */
const master = HDKey.fromMasterSeed(
  Buffer.from(
    '5eb00bbddcf069084889a8ab9155568165f5c453ccb85e70811aaed6f6da5fc19a5ac40b389cd370d086206dec8aa6c43daea6690f20ad3d8d48b2d2ce9e38e4',
    'hex',
  ),
)

function spelled(path: string, version: string): string {
  const payload = base58check.decode(master.derive(path).publicExtendedKey)
  payload.set(Buffer.from(version, 'hex'))
  return base58check.encode(payload)
}

function firstAddress(family: Family, mode: Mode, value: string, request?: KeyRequest): string | undefined {
  const key = book.normalise(family, mode, value, request)
  expect(() => book.verify(family, mode, key.xpub)).not.toThrow()
  return book.derive(family, mode, key.xpub, 0, 1)[0]?.address
}

function refusal(family: Family, mode: Mode, value: string, request?: KeyRequest): { path: string; message: string } {
  try {
    book.normalise(family, mode, value, request)
  } catch (error) {
    if (!(error instanceof PaymeshError)) throw error
    expect(error.code).toBe('VALIDATION_ERROR')
    expect(JSON.stringify(error.details)).not.toContain(value.slice(4, 40))
    return error.details?.[0] ?? { path: '', message: '' }
  }
  throw new Error('the key was accepted')
}

describe('an extended key', () => {
  // Guarantee: payers are sent to addresses that the merchant's own wallet shows.
  it.each(ACCOUNT_KEY_VECTORS)('gives the first address of its wallet: $source', (vector) => {
    const { family, mode, key, says, chosen, first, path } = vector
    const place = path === undefined ? {} : { path }
    const choices = book.readings(family, mode, key, place)
    expect(choices.map(({ scriptType }) => scriptType)).toEqual(says === null ? SCRIPT_TYPES : [says])
    const request = { ...place, ...(says === null && { scriptType: chosen }) }
    expect(firstAddress(family, mode, key, request)).toBe(first)
  })

  it.each([
    ['Ltub', 'litecoin', 'live', "m/44'/2'/0'", '019da462', 'p2pkh', 'LUWPbpM43E2p7ZSh8cyTBEkvpHmr3cB8Ez'],
    ['Mtub', 'litecoin', 'live', "m/49'/2'/0'", '01b26ef6', 'p2sh-p2wpkh', 'M7wtsL7wSHDBJVMWWhtQfTMSYYkyooAAXM'],
    ['zpub', 'litecoin', 'live', "m/84'/2'/0'", '04b24746', 'p2wpkh', 'ltc1qjmxnz78nmc8nq77wuxh25n2es7rzm5c2rkk4wh'],
    ['dgub', 'dogecoin', 'live', "m/44'/3'/0'", '02facafd', 'p2pkh', 'DBus3bamQjgJULBJtYXpEzDWQRwF5iwxgC'],
    ['vpub', 'bitcoin', 'test', "m/84'/1'/0'", '045f1cf6', 'p2wpkh', 'tb1q6rz28mcfaxtmd6v789l9rrlrusdprr9pqcpvkl'],
  ] as const)(
    '%s of %s (%s) at %s gives the address that its wallets show',
    (_name, family, mode, path, version, type, first) => {
      const value = spelled(path, version)
      expect(firstAddress(family, mode, value, { scriptType: type })).toBe(first)
      expect(book.normalise(family, mode, value, { scriptType: type }).path).toBe(path)
    },
  )

  // Guarantee: no script type is guessed; the first address of each is there to compare.
  it.each([
    ['xpub', 'bitcoin', 'live', '0488b21e', ['bc1q', '3', '1']],
    ['Ltub', 'litecoin', 'live', '019da462', ['ltc1q', 'M', 'L']],
    ['xpub', 'litecoin', 'live', '0488b21e', ['ltc1q', 'M', 'L']],
    ['tpub', 'bitcoin', 'test', '043587cf', ['tb1q', '2', '[mn]']],
    ['ttub', 'litecoin', 'test', '0436f6e1', ['tltc1q', 'Q', '[mn]']],
  ] as const)('%s of %s (%s) is refused without a script type', (_name, family, mode, version, begins) => {
    const value = spelled("m/44'/0'/0'", version)
    const { path, message } = refusal(family, mode, value)
    expect(path).toBe('scriptType')
    for (const [place, type] of SCRIPT_TYPES.entries()) {
      expect(message).toMatch(new RegExp(`${type} \\(first address ${begins[place]}`))
      expect(firstAddress(family, mode, value, { scriptType: type })).toMatch(new RegExp(`^${begins[place]}`))
    }
  })

  it('is other material for each script type, and the same for every spelling of one', () => {
    const prints = SCRIPT_TYPES.map(
      (scriptType) => book.normalise('bitcoin', 'live', spelled("m/44'/0'/0'", '0488b21e'), { scriptType }).fingerprint,
    )
    expect(new Set(prints).size).toBe(SCRIPT_TYPES.length)
    const same = [
      book.normalise('bitcoin', 'live', spelled("m/44'/0'/0'", '0488b21e'), { scriptType: 'p2sh-p2wpkh' }),
      book.normalise('bitcoin', 'live', spelled("m/44'/0'/0'", '049d7cb2')),
    ]
    expect(same[0]?.fingerprint).toBe(same[1]?.fingerprint)
    expect(same[0]?.xpub).toBe(same[1]?.xpub)
  })

  // Guarantee: keys that were stored before script types keep their fingerprints, hence their material.
  it.each([
    ['bitcoin', 'live', '04b24746', 'p2wpkh'],
    ['bitcoin', 'live', '0488b21e', 'p2wpkh'],
    ['litecoin', 'live', '019da462', 'p2wpkh'],
    ['dogecoin', 'live', '02facafd', 'p2pkh'],
  ] as const)('%s %s under %s with its former type is the bare key as before', (family, mode, version, scriptType) => {
    const path = "m/84'/0'/0'"
    const bare = master.derive(path).publicExtendedKey
    expect(book.normalise(family, mode, spelled(path, version), { scriptType }).xpub).toBe(bare)
  })

  it('refuses a script type against its version bytes, and any where there are none', () => {
    const zpub = spelled("m/84'/0'/0'", '04b24746')
    expect(refusal('bitcoin', 'live', zpub, { scriptType: 'p2pkh' })).toMatchObject({ path: 'scriptType' })
    const dgub = spelled("m/44'/3'/0'", '02facafd')
    expect(refusal('dogecoin', 'live', dgub, { scriptType: 'p2wpkh' })).toMatchObject({ path: 'scriptType' })
    const evm = spelled("m/44'/60'/0'", '0488b21e')
    expect(refusal('evm', 'live', evm, { scriptType: 'p2wpkh' })).toMatchObject({ path: 'scriptType' })
    expect(book.normalise('evm', 'live', evm)).toMatchObject({ scriptType: null, path: "m/44'/60'/0'" })
  })

  // Guarantee: money cannot be sent to the key that everybody knows, whichever script is put around it.
  it.each(SCRIPT_TYPES)('refuses the public sandbox key as %s', (scriptType) => {
    expect(refusal('bitcoin', 'live', SANDBOX_KEYS.bitcoin, { scriptType }).message).toMatch(/sandbox/)
    expect(refusal('litecoin', 'live', SANDBOX_KEYS.evm, { scriptType }).message).toMatch(/sandbox/)
  })
})

describe('where a key lies', () => {
  const electrum = ACCOUNT_KEY_VECTORS.filter(({ path }) => path !== undefined)

  it.each(electrum)('refuses $source without a path, and says what to do', ({ key, path = '', chosen }) => {
    const { path: field, message } = refusal('bitcoin', 'live', key, { scriptType: chosen })
    expect(field).toBe('path')
    expect(message).toContain(`give the path ${path} as well`)
    expect(message).toMatch(/export the key of the account/)
    expect(refusal('bitcoin', 'live', key, { scriptType: chosen, path: "m/44'/0'/0'" })).toMatchObject({ path: 'path' })
  })

  it("takes h for ' and names the path as it was given", () => {
    const [, , , , , segwit] = ACCOUNT_KEY_VECTORS
    expect(book.normalise('bitcoin', 'live', segwit?.key ?? '', { path: 'm/0h' }).path).toBe("m/0'")
  })

  it.each(['0', 'm/', 'm/x', 'm/-1', 'm/2147483648', "m/0''", '/0'])('refuses %s, which is no path', (path) => {
    const zpub = spelled("m/84'/0'/0'", '04b24746')
    expect(refusal('bitcoin', 'live', zpub, { path })).toMatchObject({ path: 'path' })
  })

  it('shows the account that the key says it is of', () => {
    expect(book.normalise('bitcoin', 'live', spelled("m/84'/0'/7'", '04b24746')).path).toBe("m/84'/0'/7'")
    const agreed = book.normalise('bitcoin', 'live', spelled("m/84'/0'/7'", '04b24746'), { path: "m/84'/0'/7'" })
    expect(agreed.path).toBe("m/84'/0'/7'")
    expect(refusal('bitcoin', 'live', spelled("m/84'/0'/7'", '04b24746'), { path: "m/84'/0'/6'" }).path).toBe('path')
  })

  // Guarantee: a chain key (m/0) whose addresses would be <key>/i is not taken for a wallet's key.
  it.each(BIP32_PUBLIC_KEYS)(
    'reads the key of $chain (BIP 32) only where its addresses are 0/i below it',
    ({ chain, key }) => {
      const request = { scriptType: 'p2pkh', path: chain } as const
      if (['m', "m/0'", "m/0'/1/2'", "m/0/2147483647'/1"].includes(chain)) {
        expect(book.normalise('bitcoin', 'live', key, request)).toMatchObject({ path: chain, scriptType: 'p2pkh' })
      } else expect(refusal('bitcoin', 'live', key, request).message).toMatch(/not at account level/)
      if (chain !== "m/0'/1/2'" && chain !== "m/0/2147483647'/1")
        expect(refusal('evm', 'live', key, { path: chain }).message).toMatch(/depth 3/)
    },
  )

  it.each(BIP32_INVALID_KEYS)('refuses the invalid key …%# of BIP 32', (key) => {
    const request = { scriptType: 'p2pkh', path: 'm' } as const
    expect(refusal('bitcoin', 'live', key, request).path).toBe('value')
  })
})

// Guarantee: the path beside an address is the one under which its owner's wallet has it.
it.each(ACCOUNT_KEY_VECTORS)('finds the path of a stored key again: $source', ({ key, family, mode, path }) => {
  for (const account of book.readings(family, mode, key, path === undefined ? {} : { path })) {
    expect(book.accountPath(family, mode, account.xpub)).toBe(account.path)
  }
})

it('names no path for a text that is no key at a usual place', () => {
  expect(book.accountPath('evm', 'test', 'none')).toBeNull()
  expect(book.accountPath('solana', 'test', '11111111111111111111111111111111')).toBeNull()
})
