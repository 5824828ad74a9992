import { createHash } from 'node:crypto'
import { ed25519 } from '@noble/curves/ed25519.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { base58, createBase58check } from '@scure/base'
import { HDKey } from '@scure/bip32'
import { computeAddress, HDNodeWallet } from 'ethers'
import { describe, expect, it } from 'vitest'
import { PaymeshError } from '#shared/contracts/errors.ts'
import { FAMILIES, type Family, MODES, type Mode } from '#shared/domain/enumerations.ts'
import { ADDRESS_VECTORS } from '#test/vectors/addresses.ts'
import { createAddressBook, verifyDerivation } from './address-book.ts'
import { SANDBOX_KEYS } from './sandbox-keys.ts'

const book = createAddressBook()
const base58check = createBase58check(sha256)
const account = HDNodeWallet.fromPhrase(ADDRESS_VECTORS.phrase, '', "m/44'/60'/0'")
const xpub = account.neuter().extendedKey

/** The same key bytes under other version bytes. */
function reversioned(key: string, version: string): string {
  const payload = base58check.decode(key)
  payload.set(Buffer.from(version, 'hex'))
  return base58check.encode(payload)
}

function refusal(value: string, family: Family = 'evm', mode: Mode = 'live'): string {
  try {
    book.normalise(family, mode, value)
  } catch (error) {
    if (!(error instanceof PaymeshError)) throw error
    expect(error.code).toBe('VALIDATION_ERROR')
    expect(error.details?.[0]?.path).toBe('value')
    // Guarantee: nothing of a pasted key travels in the error, in public or internal text.
    expect(JSON.stringify([error.message, error.details, error.internal, String(error.cause)])).not.toContain(
      value.slice(4),
    )
    return error.details?.[0]?.message ?? ''
  }
  throw new Error('the key was accepted')
}

describe('derivation', () => {
  it('agrees with ethers on EVM addresses', () => {
    const derived = book.derive('evm', 'live', xpub, 3, 20)
    for (const { index, address, matchKey } of derived) {
      const expected = computeAddress(account.deriveChild(0).deriveChild(index).publicKey)
      expect(address).toBe(expected)
      expect(matchKey).toBe(expected.slice(2).toLowerCase())
    }
    expect(derived.map(({ index }) => index)).toEqual(Array.from({ length: 20 }, (_, i) => i + 3))
  })

  it.each(ADDRESS_VECTORS.rows)('gives $address for $family index $index ($source)', (row) => {
    const [derived] = book.derive(row.family, row.mode, row.xpub, row.index, 1)
    expect(derived).toEqual({ index: row.index, address: row.address, matchKey: row.matchKey })
  })

  it('derives Solana addresses as createWithSeed does: SHA-256 of base, seed and owner', () => {
    const [first] = book.derive('solana', 'test', SANDBOX_KEYS.solana, 0, 1)
    const digest = createHash('sha256')
      .update(base58.decode(SANDBOX_KEYS.solana))
      .update('paymesh:0')
      .update(Buffer.alloc(32))
      .digest()
    expect(first).toEqual({ index: 0, address: base58.encode(digest), matchKey: digest.toString('hex') })
  })

  it('keeps sandbox addresses on test prefixes', () => {
    const first = (family: (typeof FAMILIES)[number]) =>
      book.derive(family, 'test', SANDBOX_KEYS[family], 0, 1)[0]?.address
    expect(first('bitcoin')).toMatch(/^tb1q/)
    expect(first('litecoin')).toMatch(/^tltc1q/)
    expect(first('dogecoin')).toMatch(/^n/)
    expect(first('tron')).toMatch(/^T/)
  })
})

describe('the sandbox keys', () => {
  const seed = createHash('sha512').update('Paymesh test-mode sandbox wallet: public, holds nothing').digest()
  const master = HDKey.fromMasterSeed(seed)

  it.each([
    ['bitcoin', "m/84'/1'/0'"],
    ['litecoin', "m/84'/1'/0'"],
    ['dogecoin', "m/44'/1'/0'"],
    ['evm', "m/44'/60'/0'"],
    ['tron', "m/44'/195'/0'"],
  ] as const)('%s is %s of the documented seed', (family, path) => {
    expect(SANDBOX_KEYS[family]).toBe(master.derive(path).publicExtendedKey)
  })

  it('solana is the ed25519 key of the documented seed', () => {
    expect(SANDBOX_KEYS.solana).toBe(base58.encode(ed25519.getPublicKey(seed.subarray(0, 32))))
  })

  it('has one key and one fingerprint per family', () => {
    for (const family of FAMILIES) expect(book.sandboxKey(family).fingerprint).toMatch(/^[0-9a-f]{32}$/)
  })
})

describe('normalise', () => {
  it('accepts an account-level xpub with surrounding space and always names it alike', () => {
    const plain = book.normalise('evm', 'live', xpub)
    expect(plain.xpub).toBe(xpub)
    expect(book.normalise('evm', 'live', `  ${xpub}\n`)).toEqual(plain)
  })

  // Guarantee: no form of private key passes, and none is repeated in an error.
  it.each([
    ['xprv', account.extendedKey],
    ['yprv', reversioned(account.extendedKey, '049d7878')],
    ['zprv', reversioned(account.extendedKey, '04b2430c')],
    ['tprv', reversioned(account.extendedKey, '04358394')],
    ['Ltpv', reversioned(account.extendedKey, '019d9cfe')],
    ['dgpv', reversioned(account.extendedKey, '02fac398')],
    ['private bytes under an xpub version', reversioned(account.extendedKey, '0488b21e')],
    ['xprv with a typing error', `${account.extendedKey.slice(0, -1)}1`],
    ['raw hex', account.privateKey],
    ['WIF', 'KwDiBf89QgGbjEhKnhXJuH7LrciVrZi3qYjgd9M7rFU73sVHnoWn'],
    ['recovery phrase', ADDRESS_VECTORS.phrase],
  ])('refuses a private key: %s', (_form, value) => {
    expect(refusal(value)).toMatch(/private key/)
  })

  it.each([
    ['a wrong character', `${xpub.slice(0, -1)}${xpub.endsWith('1') ? '2' : '1'}`, /checksum/],
    ['no key at all', 'hello, I have no key', /not an extended public key/],
    ['an address', '0x9858EfFD232B4033E47d90003D41EC34EcaEda94', /not an extended public key/],
    ['multisig Ypub', reversioned(xpub, '0295b43f'), /multi-signature/],
    ['multisig Zpub', reversioned(xpub, '02aa7ed3'), /multi-signature/],
    ['a Bitcoin zpub', reversioned(xpub, '04b24746'), /begins with xpub/],
    ['master level', HDNodeWallet.fromPhrase(ADDRESS_VECTORS.phrase, '', 'm').neuter().extendedKey, /depth 3/],
    ['chain level', account.deriveChild(0).neuter().extendedKey, /depth 3/],
  ])('refuses %s', (_form, value, message) => {
    expect(refusal(value)).toMatch(message)
  })

  it('leads to the kinds that a family without extended keys has', () => {
    expect(refusal(xpub, 'solana')).toMatch(/pool of addresses or a single address/)
  })

  const VERSION = {
    xpub: '0488b21e',
    ypub: '049d7cb2',
    zpub: '04b24746',
    tpub: '043587cf',
    upub: '044a5262',
    vpub: '045f1cf6',
    Ltub: '019da462',
    Mtub: '01b26ef6',
    dgub: '02facafd',
  } as const
  const ACCEPTED = {
    bitcoin: { live: ['xpub', 'ypub', 'zpub'], test: ['tpub', 'upub', 'vpub'] },
    litecoin: { live: ['Ltub', 'Mtub', 'xpub', 'ypub', 'zpub'], test: ['tpub', 'upub', 'vpub'] },
    dogecoin: { live: ['dgub', 'xpub'], test: ['tpub'] },
    evm: { live: ['xpub'], test: ['xpub', 'tpub'] },
    tron: { live: ['xpub'], test: ['xpub', 'tpub'] },
  } as const

  // Guarantee: a key of another coin or of the other mode never becomes a wallet; every spelling of one key is the same key.
  it.each(
    (Object.keys(ACCEPTED) as (keyof typeof ACCEPTED)[]).flatMap((family) =>
      (['live', 'test'] as const).flatMap((mode) =>
        (Object.keys(VERSION) as (keyof typeof VERSION)[]).map((name) => ({ family, mode, name })),
      ),
    ),
  )('$family $mode takes $name or names the forms that it takes', ({ family, mode, name }) => {
    const value = reversioned(xpub, VERSION[name])
    expect(value.startsWith(name)).toBe(true)
    const accepted: readonly string[] = ACCEPTED[family][mode]
    if (accepted.includes(name)) for (const key of book.readings(family, mode, value)) expect(key.xpub).toContain(xpub)
    else expect(refusal(value, family, mode)).toContain(accepted[0])
  })

  it("reads the key of BIP 84's test vector as its zpub, and gives its addresses", () => {
    const zpub =
      'zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs'
    const { xpub: normal } = book.normalise('bitcoin', 'live', zpub)
    expect(book.derive('bitcoin', 'live', normal, 0, 2).map(({ address }) => address)).toEqual([
      'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu',
      'bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g',
    ])
  })
})

describe('verify', () => {
  it.each(FAMILIES)('finds the first five addresses of %s equal in a second library', (family) => {
    for (const mode of MODES) expect(() => book.verify(family, mode, SANDBOX_KEYS[family])).not.toThrow()
  })

  // Guarantee: a derivation that is off by anything stops the process before an address is shown.
  it.each(['bitcoin', 'dogecoin', 'evm', 'tron'] as const)('throws when an address of %s differs', (family) => {
    const wrong = (from: number, count: number) =>
      book.derive(family, 'live', SANDBOX_KEYS[family], from, count).map((row) => ({ ...row, index: row.index + 1 }))
    expect(() => verifyDerivation(wrong, { family, mode: 'live', xpub: SANDBOX_KEYS[family] })).toThrow(/self-check/)
  })
})
