import { ed25519 } from '@noble/curves/ed25519.js'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { base58, bech32, bech32m, createBase58check } from '@scure/base'
import { getAddress } from 'ethers'
import { describe, expect, it } from 'vitest'
import { ASSETS } from '#shared/chains/definitions/assets.ts'
import { CHAINS } from '#shared/chains/definitions/registry.ts'
import { evmAddress } from '#shared/chains/families/evm/address.ts'
import { formatAccount, tronAddress } from '#shared/chains/families/tron/address.ts'
import { outputScript } from '#shared/chains/families/utxo/output-script.ts'
import { PaymeshError } from '#shared/contracts/errors.ts'
import { type Family, NETWORK_IDS, type NetworkId } from '#shared/domain/enumerations.ts'
import { parseAddressList } from './address-book.ts'
import { createAddressReader } from './payee-address.ts'
import { unspendableReason } from './unspendable.ts'

const { read } = createAddressReader()
const base58check = createBase58check(sha256)

function refusalOf(enter: () => unknown): string {
  try {
    enter()
  } catch (error) {
    if (error instanceof PaymeshError) return error.details?.[0]?.message ?? ''
    throw error
  }
  return 'accepted'
}

const evm = (hex: string) => getAddress(`0x${hex.padStart(40, '0')}`)
const hash = (version: number, hex: string) => base58check.encode(Uint8Array.of(version, ...Buffer.from(hex, 'hex')))
const witness = (hrp: string, version: number, hex: string) => {
  const encoding = version === 0 ? bech32 : bech32m
  return encoding.encode(hrp, [version, ...encoding.toWords(Buffer.from(hex, 'hex'))])
}

/** What people paste, and systems fill in, by network. */
const LOST: Readonly<Partial<Record<NetworkId, readonly (readonly [what: string, address: string])[]>>> = {
  ethereum: [
    ['zero', evm('0')],
    ['dead', evm('dead')],
    ['deadbeef', evm('deadbeef')],
    ['dead all over', evm('dead'.repeat(10))],
    ['Shiba’s burn address', '0xdEAD000000000000000042069420694206942069'],
    ['the stand-in for a coin', evm('ee'.repeat(20))],
    ['all ones', evm('ff'.repeat(20))],
    ['the system address', evm(`${'ff'.repeat(19)}fe`)],
    ...['1', '2', '9', 'a', '11', '64', '6e', '70', 'ff', '100', '1000', '1010', '2001'].map(
      (one) => [`precompile ${one}`, evm(one)] as const,
    ),
    ['predeploy of Base', evm(`4200${'0'.repeat(32)}0015`)],
    ['wrapped ether of Base', evm(`4200${'0'.repeat(32)}0006`)],
    ['the deposit contract', '0x00000000219ab540356cBB839Cbe05303d7705Fa'],
    ['wrapped BNB', '0xbb4CdB9CBd36B01bD1cBaEBF2De08d9173bc095c'],
    ['a token of a testnet', '0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238'],
  ],
  tron: [
    ['zero', 'T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb'],
    ['the black hole', 'TLsV52sRDL79HXGGm9yzwKibb6BeruhUzy'],
    ['dead', formatAccount(evm('dead').slice(2).toLowerCase())],
    ['wrapped TRX', 'TNUC9Qb1rRpS5CbWLmNMxXBjyFoydXjWFR'],
  ],
  solana: [
    ...[
      ...['11111111111111111111111111111111', '1nc1nerator11111111111111111111111111111111'],
      ...['Vote111111111111111111111111111111111111111', 'Stake11111111111111111111111111111111111111'],
      ...['ComputeBudget111111111111111111111111111111', 'BPFLoaderUpgradeab1e11111111111111111111111'],
      ...['SysvarC1ock11111111111111111111111111111111', 'SysvarRent111111111111111111111111111111111'],
      ...['Sysvar1nstructions1111111111111111111111111', 'Ed25519SigVerify111111111111111111111111111'],
      ...['So11111111111111111111111111111111111111112', 'AddressLookupTab1e1111111111111111111111111'],
      ...['TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA', 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb'],
      ...['ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL', 'metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s'],
    ].map((address) => [address.slice(0, 12), address] as const),
    ['a key without a secret', base58.encode(ed25519.Point.ZERO.toBytes())],
    [
      'another one',
      base58.encode(Buffer.from('c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a', 'hex')),
    ],
  ],
  bitcoin: [
    ['zero', '1111111111111111111114oLvT2'],
    ['the largest hash', '1QLbz7JHiBTspS962RLKV8GndWFwi5j6Qr'],
    ['the eater', '1BitcoinEaterAddressDontSendf59kuE'],
    ['Counterparty', '1CounterpartyXXXXXXXXXXXXXXXUWLpVr'],
    ['a hash of nothing', '1HT7xU2Ngenf7D4yocz2SAcnNLW7rK8d4E'],
    ['a script of nothing', hash(5, 'b472a266d0bd89c13706a4132ccfb16f7c3b9fcb')],
    ['a zero script', hash(5, '00'.repeat(20))],
    ['a zero program', witness('bc', 0, '00'.repeat(20))],
    ['a zero script program', witness('bc', 0, '00'.repeat(32))],
    ['the anchor of anybody', 'bc1pfeessrawgf'],
    ['no point', witness('bc', 1, `${'00'.repeat(31)}05`)],
    ['a point that is none', witness('bc', 1, 'eefdea4cdb677750a420fee807eacf21eb9898ae79b9768766e4faa04a2d4a34')],
    ['a point of BIP 341', witness('bc', 1, '50929b74c1a04954b78b4b6035e97a5e078a5a0f28ec96d547bfee9ace803ac0')],
    ['version 2', witness('bc', 2, '751e76e8199196d454941c45d1b3a323')],
    ['version 16', witness('bc', 16, '751e')],
  ],
  litecoin: [
    ['zero', hash(0x30, '00'.repeat(20))],
    ['the eater', hash(0x30, '759d6677091e973b9e9d99f19c68fbf43e3f05f9')],
    ['version 8', witness('ltc', 8, '751e76e8199196d454941c45d1b3a323f1433bd6751e76e8199196d454941c45')],
  ],
  dogecoin: [
    ['Dogeparty', 'DDogepartyxxxxxxxxxxxxxxxxxxw1dfzr'],
    ['zero', hash(0x1e, '00'.repeat(20))],
  ],
}

// Guarantee: money is never asked for, or sent back, to an address that nobody can spend from.
describe('an address that nobody can spend from', () => {
  const rows = NETWORK_IDS.flatMap((network) => (LOST[network] ?? []).map((row) => [network, ...row] as const))

  it.each(rows)('is refused on %s: %s %s', (network, _, address) => {
    const family: Family = CHAINS[network].family
    expect(refusalOf(() => read(network, 'live', address))).toMatch(/Money sent to it is lost|off the curve/)
    // Wallets of the Bitcoin family are extended keys.
    const isListed = family === 'evm' || family === 'tron' || family === 'solana'
    if (isListed) expect(refusalOf(() => parseAddressList(family, address))).toMatch(/^Line 1: .*(lost|off the curve)/)
  })

  it.each(Object.entries(ASSETS).filter(([, { contract }]) => contract !== null))('is the contract of %s', (_, row) => {
    for (const family of ['evm', 'tron', 'solana'] as const) {
      if (row.contract === null) throw new Error('a coin')
      const isOurs = refusalOf(() => parseAddressList(family, row.contract ?? ''))
      expect(isOurs).not.toBe('accepted')
    }
  })

  it('is none of those that keys have', () => {
    for (let index = 0; index < 500; index += 1) {
      const seed = sha256(Buffer.from(`key ${index}`))
      const key = secp256k1.getPublicKey(seed)
      expect(unspendableReason('evm', evmAddress(key))).toBeNull()
      expect(unspendableReason('tron', tronAddress(key))).toBeNull()
      const solana = ed25519.getPublicKey(seed)
      const read = { address: base58.encode(solana), matchKey: Buffer.from(solana).toString('hex') }
      expect(unspendableReason('solana', read)).toBeNull()
      for (const type of ['p2pkh', 'p2sh-p2wpkh', 'p2wpkh'] as const)
        expect(unspendableReason('bitcoin', { address: '1', matchKey: outputScript(key, type) })).toBeNull()
      const taproot = `5120${Buffer.from(key.subarray(1)).toString('hex')}`
      expect(unspendableReason('litecoin', { address: 'ltc1p', matchKey: taproot })).toBeNull()
    }
  })

  // Tools for nice addresses reach nine equal characters in days on one graphics card (58⁸ attempts); such addresses are sold and used.
  it('is none of those that somebody searched for a long time', () => {
    const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
    for (const repeated of alphabet) {
      const nice = base58.decode(`TK${repeated.repeat(10)}yWvGAQ3mRbzD5sNfPqXh2e`).slice(0, 21)
      const account = Buffer.from(nice.subarray(1)).toString('hex')
      const address = formatAccount(account)
      expect(address).toContain(repeated.repeat(9))
      expect(unspendableReason('tron', { address, matchKey: account })).toBeNull()
    }
  })
})
