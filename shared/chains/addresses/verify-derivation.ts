import { sha256 } from '@noble/hashes/sha2.js'
import { createBase58check } from '@scure/base'
import { type Network, payments } from 'bitcoinjs-lib'
import { HDNodeWallet } from 'ethers'
import type { ChainDefinition } from '#shared/chains/definitions/chain.ts'
import { CHAINS } from '#shared/chains/definitions/registry.ts'
import type { Family, Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { ScriptType } from '#shared/domain/script-type.ts'
import type { DerivedAddress } from '#shared/ports/chain-catalog.ts'
import { parseKeyText } from './key-text.ts'

const base58check = createBase58check(sha256)
/** Addresses compared for each key: a derivation error shows in the first ones. */
const COMPARED = 5

type Output = Pick<ReturnType<typeof payments.p2pkh>, 'address' | 'output'>

/** How bitcoinjs-lib builds the payment of each script type. */
const PAYMENTS: Readonly<Record<ScriptType, (pubkey: Buffer, network: Network) => Output>> = {
  p2pkh: (pubkey, network) => payments.p2pkh({ pubkey, network }),
  'p2sh-p2wpkh': (pubkey, network) => payments.p2sh({ redeem: payments.p2wpkh({ pubkey, network }), network }),
  p2wpkh: (pubkey, network) => payments.p2wpkh({ pubkey, network }),
}

/**
 * Compares the first five derived addresses of a key with those of other libraries (ethers for keys and EVM,
 * bitcoinjs-lib for output scripts). Throws an Error that names family and index when one differs: the process must then
 * not hand out addresses. Solana keys are not extended keys; there is nothing to compare.
 */
export function verifyDerivation(
  derive: (from: number, count: number) => readonly DerivedAddress[],
  key: { readonly family: Family; readonly mode: Mode; readonly xpub: string },
): void {
  const { family, mode } = key
  if (family === 'solana') return
  const { xpub, scriptType } = parseKeyText(family, key.xpub)
  const chain = HDNodeWallet.fromExtendedKey(xpub).deriveChild(0)
  for (const { index, address, matchKey } of derive(0, COMPARED)) {
    const expected = otherAddress({ family, mode, scriptType }, chain.deriveChild(index))
    if (address !== expected.address || matchKey !== expected.matchKey) {
      throw new Error(`derivation self-check failed: ${family} ${mode} address ${index} differs between two libraries`)
    }
  }
}

interface Scheme {
  readonly family: Exclude<Family, 'solana'>
  readonly mode: Mode
  readonly scriptType: ScriptType | null
}

function otherAddress(
  { family, mode, scriptType }: Scheme,
  child: { readonly address: string; readonly publicKey: string },
): Omit<DerivedAddress, 'index'> {
  if (family === 'evm') return { address: child.address, matchKey: child.address.slice(2).toLowerCase() }
  if (family === 'tron') {
    const account = child.address.slice(2).toLowerCase()
    return { address: base58check.encode(Buffer.from(`41${account}`, 'hex')), matchKey: account }
  }
  if (scriptType === null) throw new TypeError(`a key of ${family} needs a script type`)
  const pubkey = Buffer.from(child.publicKey.slice(2), 'hex')
  const payment = PAYMENTS[scriptType](pubkey, bitcoinNetwork(family, mode))
  return { address: payment.address ?? '', matchKey: Buffer.from(payment.output ?? []).toString('hex') }
}

function bitcoinNetwork(network: NetworkId, mode: Mode): Network {
  const { addressPrefix, outputs }: ChainDefinition = CHAINS[network]
  const prefix = addressPrefix?.[mode]
  return {
    messagePrefix: '',
    bech32: prefix?.kind === 'bech32' ? prefix.hrp : '',
    bip32: { public: 0, private: 0 },
    pubKeyHash: outputs?.pubKeyHashVersion[mode] ?? 0,
    scriptHash: outputs?.scriptHashVersion[mode] ?? 0,
    wif: 0,
  }
}
