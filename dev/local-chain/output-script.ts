import { sha256 } from '@noble/hashes/sha2.js'
import { bech32, bech32m, createBase58check } from '@scure/base'

const base58check = createBase58check(sha256)
/** P2SH version bytes of Bitcoin, Litecoin and Dogecoin, live and test; all other versions are P2PKH. */
const SCRIPT_HASH_VERSIONS = new Set([0x05, 0xc4, 0x32, 0x3a, 0x16])

/**
 * The output script, in hex, of an address of Bitcoin, Litecoin or Dogecoin; a script in hex is returned unchanged.
 * One development chain can then replace all three, because only scripts are compared. Throws on anything else.
 */
export function outputScript(target: string): string {
  if (/^([0-9a-f]{2})+$/.test(target)) return target
  const witness = bech32.decodeUnsafe(target, 90) ?? bech32m.decodeUnsafe(target, 90)
  if (witness !== undefined) {
    const [version = 0, ...words] = witness.words
    const program = Buffer.from(bech32.fromWords(words))
    return Buffer.of(version === 0 ? 0 : 0x50 + version, program.length, ...program).toString('hex')
  }
  const [version = 0, ...hash] = base58check.decode(target)
  const hex = Buffer.from(hash).toString('hex')
  return SCRIPT_HASH_VERSIONS.has(version) ? `a914${hex}87` : `76a914${hex}88ac`
}

/** An unsigned transaction (version 2, no payment method time) that spends outpoints replaceably on scripts, serialised in hex. */
export function unsignedTransaction(
  inputs: readonly { readonly txid: string; readonly vout: number }[],
  outputs: readonly { readonly script: string; readonly amountBase: bigint }[],
): string {
  const uint32 = (value: number) => {
    const bytes = Buffer.alloc(4)
    bytes.writeUInt32LE(value)
    return bytes.toString('hex')
  }
  const amount = (value: bigint) => {
    const bytes = Buffer.alloc(8)
    bytes.writeBigUInt64LE(value)
    return bytes.toString('hex')
  }
  const count = (value: number) => {
    if (value >= 0xfd) throw new RangeError('a development payment has few inputs and outputs')
    return Buffer.of(value).toString('hex')
  }
  return [
    uint32(2),
    count(inputs.length),
    // Sequence 0xfffffffd signals replaceability (BIP 125).
    ...inputs.map(({ txid, vout }) => `${Buffer.from(txid, 'hex').reverse().toString('hex')}${uint32(vout)}00fdffffff`),
    count(outputs.length),
    ...outputs.map(({ script, amountBase }) => `${amount(amountBase)}${count(script.length / 2)}${script}`),
    uint32(0),
  ].join('')
}
