import { sha256 } from '@noble/hashes/sha2.js'
import { createBase58check } from '@scure/base'
import { type Network, payments } from 'bitcoinjs-lib'
import { HDNodeWallet } from 'ethers'
import type { Family, Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { DerivedAddress } from '#shared/usecases/ports/catalog.ts'
import type { ChainDefinition } from './chain.ts'
import { CHAINS } from './registry.ts'

const base58check = createBase58check(sha256)
/** Addresses compared for each key: an error of derivation shows in the first ones. */
const COMPARED = 5

/**
 * Compares the first five derived addresses of a key with those of other libraries (ethers for keys and EVM,
 * bitcoinjs-lib for output scripts). Throws an Error that names family and index when one differs: such a process must
 * not hand out addresses. Solana keys are not extended keys; there is nothing to compare.
 */
export function verifyDerivation(
  derive: (from: number, count: number) => readonly DerivedAddress[],
  key: { readonly family: Family; readonly mode: Mode; readonly xpub: string },
): void {
  const { family, mode, xpub } = key
  if (family === 'solana') return
  const account = HDNodeWallet.fromExtendedKey(xpub)
  for (const { index, address, matchKey } of derive(0, COMPARED)) {
    const child = account.deriveChild(0).deriveChild(index)
    const expected = otherAddress(family, mode, child)
    if (address !== expected.address || matchKey !== expected.matchKey) {
      throw new Error(`derivation self-check failed: ${family} ${mode} address ${index} differs between two libraries`)
    }
  }
}

function otherAddress(
  family: Exclude<Family, 'solana'>,
  mode: Mode,
  child: { readonly address: string; readonly publicKey: string },
): Omit<DerivedAddress, 'index'> {
  if (family === 'evm') return { address: child.address, matchKey: child.address.slice(2).toLowerCase() }
  if (family === 'tron') {
    const account = child.address.slice(2).toLowerCase()
    return { address: base58check.encode(Buffer.from(`41${account}`, 'hex')), matchKey: account }
  }
  const pubkey = Buffer.from(child.publicKey.slice(2), 'hex')
  const network = bitcoinNetwork(family, mode)
  const payment = network.bech32 === '' ? payments.p2pkh({ pubkey, network }) : payments.p2wpkh({ pubkey, network })
  return { address: payment.address ?? '', matchKey: Buffer.from(payment.output ?? []).toString('hex') }
}

function bitcoinNetwork(network: NetworkId, mode: Mode): Network {
  const { addressPrefix }: ChainDefinition = CHAINS[network]
  const prefix = addressPrefix?.[mode]
  return {
    messagePrefix: '',
    bech32: prefix?.kind === 'bech32' ? prefix.hrp : '',
    bip32: { public: 0, private: 0 },
    pubKeyHash: prefix?.kind === 'base58' ? prefix.version : 0,
    scriptHash: 0,
    wif: 0,
  }
}
