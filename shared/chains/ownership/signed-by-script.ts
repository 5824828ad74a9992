import { secp256k1 } from '@noble/curves/secp256k1.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { script, Transaction } from 'bitcoinjs-lib'
import { SCRIPT_TYPES } from '#shared/domain/script-type.ts'
import { outputScript } from '../families/utxo/output-script.ts'

/** First lines of signed messages, with their length byte, as the reference wallets of the three chains write them. */
const MAGIC = {
  bitcoin: '\x18Bitcoin Signed Message:\n',
  litecoin: '\x19Litecoin Signed Message:\n',
  dogecoin: '\x19Dogecoin Signed Message:\n',
} as const

/** Chains whose addresses are output scripts. */
export type ScriptChain = keyof typeof MAGIC

const RECOVERABLE_BYTES = 65
/** BIP 137: 27–30 uncompressed P2PKH, 31–34 compressed P2PKH, 35–38 P2WPKH in P2SH, 39–42 P2WPKH. */
const HEADER_MIN = 27
const HEADER_COMPRESSED = 31
const HEADER_MAX = 42
/** A witness of one signature and one compressed key has at most 108 bytes. */
const WITNESS_BYTES_MAX = 150
const PUBLIC_KEY_BYTES = 33

/**
 * Whether the key behind an output script (lower-case hex) signed a text: BIP 137, whatever type of address its header names,
 * because Electrum and others name P2PKH for all, or BIP 322 (simple) for SegWit. `signature` is base64. Never throws.
 */
export function isSignedByScript(chain: ScriptChain, outputHex: string, text: string, signature: string): boolean {
  const bytes = Buffer.from(signature.replace(/^smp/, ''), 'base64')
  try {
    return bytes.length === RECOVERABLE_BYTES
      ? isRecovered(chain, outputHex, text, bytes)
      : bytes.length <= WITNESS_BYTES_MAX && isWitnessed(outputHex, text, bytes)
  } catch {
    // The libraries throw on bytes that are not a point, number or signature.
    return false
  }
}

function isRecovered(chain: ScriptChain, outputHex: string, text: string, bytes: Buffer): boolean {
  const header = bytes[0] ?? 0
  // Addresses are derived with compressed keys only.
  if (header < HEADER_COMPRESSED || header > HEADER_MAX) return false
  const recovery = (header - HEADER_MIN) % 4
  const hash = sha256(sha256(Buffer.concat([Buffer.from(MAGIC[chain], 'latin1'), sized(Buffer.from(text, 'utf8'))])))
  const key = secp256k1.recoverPublicKey(Uint8Array.of(recovery, ...bytes.subarray(1)), hash, { prehash: false })
  return SCRIPT_TYPES.some((type) => outputScript(key, type) === outputHex)
}

/** BIP 322: the witness spends a virtual output that commits to the text. */
function isWitnessed(outputHex: string, text: string, bytes: Buffer): boolean {
  const items = witnessItems(bytes)
  const [signature, key] = items ?? []
  if (items?.length !== 2 || signature === undefined || key?.length !== PUBLIC_KEY_BYTES) return false
  if (outputScript(key, 'p2wpkh') !== outputHex && outputScript(key, 'p2sh-p2wpkh') !== outputHex) return false
  const { signature: compact, hashType } = script.signature.decode(signature)
  if (hashType !== Transaction.SIGHASH_ALL) return false
  const keyScript = Buffer.from(outputScript(key, 'p2pkh'), 'hex')
  const hash = toSign(Buffer.from(outputHex, 'hex'), text).hashForWitnessV0(0, keyScript, 0n, hashType)
  return secp256k1.verify(compact, hash, key, { prehash: false })
}

function toSign(output: Uint8Array, text: string): Transaction {
  const toSpend = new Transaction()
  toSpend.version = 0
  const commitment = taggedHash('BIP0322-signed-message', Buffer.from(text, 'utf8'))
  toSpend.addInput(new Uint8Array(32), 0xffff_ffff, 0, Uint8Array.of(0, 32, ...commitment))
  toSpend.addOutput(output, 0n)
  const signing = new Transaction()
  signing.version = 0
  signing.addInput(toSpend.getHash(), 0, 0)
  signing.addOutput(Uint8Array.of(OP_RETURN), 0n)
  return signing
}

const OP_RETURN = 0x6a

/** BIP 340. */
function taggedHash(tag: string, message: Uint8Array): Uint8Array {
  const prefix = sha256(Buffer.from(tag, 'utf8'))
  return sha256(Buffer.concat([prefix, prefix, message]))
}

/** The items of a witness; null unless they fill it exactly. All lengths are below 253 and hence one byte. */
function witnessItems(bytes: Buffer): readonly Buffer[] | null {
  const items: Buffer[] = []
  let place = 1
  for (let left = bytes[0] ?? 0; left > 0; left -= 1) {
    const length = bytes[place] ?? bytes.length
    items.push(bytes.subarray(place + 1, place + 1 + length))
    place += 1 + length
  }
  return place === bytes.length ? items : null
}

/** A text preceded by its length as a compact size. */
function sized(text: Buffer): Buffer {
  if (text.length < 0xfd) return Buffer.concat([Uint8Array.of(text.length), text])
  return Buffer.concat([Uint8Array.of(0xfd, text.length & 0xff, text.length >> 8), text])
}
