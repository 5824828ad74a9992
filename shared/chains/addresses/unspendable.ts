import { ed25519 } from '@noble/curves/ed25519.js'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { ASSETS } from '#shared/chains/definitions/assets.ts'
import type { AssetRow } from '#shared/chains/definitions/chain.ts'
import { CHAINS } from '#shared/chains/definitions/registry.ts'
import { TESTNETS } from '#shared/chains/definitions/testnets.ts'
import type { Family } from '#shared/domain/enumerations.ts'

/** An address as it was read: its canonical spelling, and its script, account or key as lower-case hex. */
interface ReadAddress {
  readonly address: string
  readonly matchKey: string
}

/** Contracts and mints of the registry, siblings and testnets included, in canonical spelling. */
const TOKENS: readonly string[] = [
  ...Object.values(ASSETS).flatMap(({ contract }: AssetRow) => (contract === null ? [] : [contract])),
  ...Object.values(CHAINS).flatMap(({ siblings }) => siblings.map(({ contract }) => contract)),
  ...Object.values(TESTNETS).flatMap((rows) => Object.values(rows).flatMap(({ tokens }) => Object.values(tokens))),
]

/** Contracts that hand out a token for a coin, where no asset or sibling names them. Issuers' pages and explorers, read 2026-11-28. */
const WRAPPED_COINS: readonly string[] = [
  '0xbb4CdB9CBd36B01bD1cBaEBF2De08d9173bc095c', // WBNB, bscscan.com
  '0x0d500B1d8E8eF31E21C99d1Db9A6444d3ADf1270', // WPOL, polygonscan.com
  '0x82aF49447D8a07e3bd95BD0d56f35241523fBab1', // WETH on Arbitrum One, arbiscan.io
  'TNUC9Qb1rRpS5CbWLmNMxXBjyFoydXjWFR', // WTRX, tronscan.org
]

/** Contracts and programs that people see in their history and paste, beside those that `patternOf` finds. Read 2026-11-28. */
const SYSTEM: readonly string[] = [
  '0x00000000219ab540356cBB839Cbe05303d7705Fa', // deposit contract of the beacon chain, ethereum.org
  '0x000F3df6D732807Ef1319fB7B8bB8522d0Beac02', // EIP-4788
  '0x0000F90827F1C53a10cb7A02335B175320002935', // EIP-2935
  '0x00000961Ef480Eb55e80D19ad83579A64c007002', // EIP-7002
  '0x0000BBdDc7CE488642fb579F8B00f3a590007251', // EIP-7251
  '0x5FF137D4b0FDCD49DcA30c7CF57E578a026d2789', // ERC-4337 entry point 0.6
  '0x0000000071727De22E5E9d8BAf0edAc6f37da032', // ERC-4337 entry point 0.7
  '0x000000000022D473030F116dDEE9F6B43aC78BA3', // Permit2, docs.uniswap.org
  '0xcA11bde05977b3631167028862bE2a173976CA11', // Multicall3, multicall3.com
  '0x4e59b44847b379578588920cA78FbF26c0B4956C', // deterministic deployment proxy
  'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA', // SPL Token, solana.com/docs/tokens
  'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb', // Token-2022
  'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL', // Associated Token Account
  'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo', // Memo, first version
  'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr', // Memo
  'metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s', // Token Metadata, metaplex.com
]

/** Addresses that were published for destroying money, beside those that `patternOf` finds. Read 2026-11-28. */
const BURN: readonly string[] = [
  '0xdEAD000000000000000042069420694206942069', // etherscan.io, "Vb 2"
  'TLsV52sRDL79HXGGm9yzwKibb6BeruhUzy', // black hole of the genesis block, tronprotocol/tron-deployment main_net_config.conf
]

/**
 * Hashes of public keys and of scripts for which no key can be found, whatever the coin that spells them. burned.money and en.bitcoin.it, read
 * 2026-11-28: the "eater" address; the hashes of an empty key or script, which software has paid by mistake, and of a script that anybody can spend.
 */
const BURN_HASHES: readonly string[] = [
  '759d6677091e973b9e9d99f19c68fbf43e3f05f9', // 1BitcoinEaterAddressDontSendf59kuE
  'b472a266d0bd89c13706a4132ccfb16f7c3b9fcb', // HASH160 of nothing
  'da1745e9b549bd0bfa1a569971c77eba30cd5a4b', // HASH160 of OP_TRUE
  '50929b74c1a04954b78b4b6035e97a5e078a5a0f28ec96d547bfee9ace803ac0', // BIP 341, a point without a known key
]

const NAMED: ReadonlyMap<string, string> = new Map([
  ...BURN.map((address) => [address, 'a burn address'] as const),
  ...SYSTEM.map((address) => [address, 'a contract or program of the network'] as const),
  ...WRAPPED_COINS.map((address) => [address, 'the contract of a wrapped coin'] as const),
  ...TOKENS.map((address) => [address, 'a token contract'] as const),
])

/**
 * Why nobody can spend from an address, as a sentence for the person who entered it; null for every address that somebody may hold a key
 * of. The one check of all addresses that enter from outside. Contracts that a person may control, such as multi-signature wallets, pass.
 */
export function unspendableReason(family: Family, read: ReadAddress): string | null {
  const what = NAMED.get(read.address) ?? patternOf(family, read)
  return what === null ? null : `This is ${what}, not a wallet. Money sent to it is lost.`
}

/** At most this many different bytes: less than one in 10²⁰ of all keys, and every address that somebody wrote down instead of deriving it. */
const DISTINCT_BYTES_MAX = 6
/** Leading zero bytes of an account that no search for nice addresses can reach: 2⁸⁸ attempts. Precompiles and system contracts have more. */
const ZERO_BYTES = 11
/**
 * The same character thirteen times in a row, as in `1CounterpartyXXXXXXXXXXXXXXXUWLpVr` and in programs and sysvars of Solana: 58¹² attempts for a
 * key. Nine or ten in a row are within the reach of graphics cards, and such addresses are wallets.
 */
const SPELLED = /([1-9A-HJ-NP-Za-km-z])\1{12}/

function patternOf(family: Family, { address, matchKey }: ReadAddress): string | null {
  const payload = payloadOf(family, matchKey)
  if (payload === null) return 'an output of a kind that no wallet can spend'
  const bytes = Buffer.from(payload, 'hex')
  if (bytes.every((byte) => byte === 0)) return 'the zero address'
  if (BURN_HASHES.includes(payload)) return 'a burn address'
  const isAccount = family === 'evm' || family === 'tron'
  if (isAccount && payload.startsWith('00'.repeat(ZERO_BYTES))) return 'a precompiled or system contract'
  if (new Set(bytes).size <= DISTINCT_BYTES_MAX) return 'a burn address or a system contract'
  const isBase58 = family !== 'evm' && !/^[a-z]+1[02-9ac-hj-np-z]+$/.test(address)
  if (isBase58 && SPELLED.test(address)) return 'a burn address or a program of the network'
  return family === 'solana' && isSmallOrder(bytes) ? 'a key that nobody holds' : null
}

/** The hash, account or key in a match key; null for an output that is no key's or script's. */
function payloadOf(family: Family, matchKey: string): string | null {
  if (family === 'evm' || family === 'tron' || family === 'solana') return matchKey
  const [, payload = null] =
    /^(?:76a914([0-9a-f]{40})88ac)$/.exec(matchKey) ?? /^a914([0-9a-f]{40})87$/.exec(matchKey) ?? []
  if (payload !== null) return payload
  const [, program = null] = /^00(?:14|20)([0-9a-f]+)$/.exec(matchKey) ?? []
  return program ?? taprootKey(matchKey)
}

/** Version 1 with 32 bytes that are a point (BIP 341); later versions and other lengths (BIP 141) belong to nobody, or to anybody. */
function taprootKey(script: string): string | null {
  const [, key = null] = /^5120([0-9a-f]{64})$/.exec(script) ?? []
  if (key === null) return null
  try {
    secp256k1.Point.fromHex(`02${key}`)
    return key
  } catch {
    return null
  }
}

/** One of the eight points whose private key is zero in effect (RFC 8032, section 5.1.7). */
function isSmallOrder(key: Uint8Array): boolean {
  try {
    return ed25519.Point.fromBytes(key).isSmallOrder()
  } catch {
    return false
  }
}
