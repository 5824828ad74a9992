import { ed25519 } from '@noble/curves/ed25519.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { base58 } from '@scure/base'
import { recoverAddress, verifyMessage } from 'ethers'

const RECOVERABLE_HEX = /^(0x)?[0-9a-fA-F]{130}$/
const TRON_MAGIC = '\x19TRON Signed Message:\n'
const SOLANA_MAGIC = '\xffsolana offchain'
const SOLANA_SIGNATURE_BYTES = 64
/** Of an off-chain message: printable ASCII only, which hardware wallets can show. */
const RESTRICTED_ASCII = 0
/** Application name in the header of an off-chain message; wallets leave it empty. */
const NO_APPLICATION = new Uint8Array(32)

/** Whether an EVM account (20 bytes, hex) signed a text as in EIP-191 "personal_sign". Never throws. */
export function isSignedByEvm(account: string, text: string, signature: string): boolean {
  return isRecovered(account, signature, (bytes) => verifyMessage(text, bytes))
}

/** Whether a TRON account (20 bytes, hex) signed a text as in TIP-191 (`signMessageV2`). Never throws. */
export function isSignedByTron(account: string, text: string, signature: string): boolean {
  const bytes = Buffer.from(text, 'utf8')
  const hash = keccak_256(Buffer.concat([Buffer.from(`${TRON_MAGIC}${bytes.length}`, 'latin1'), bytes]))
  return isRecovered(account, signature, (given) => recoverAddress(hash, given))
}

/** TRON accounts are the same hash of the same key as EVM accounts. */
function isRecovered(account: string, signature: string, recover: (signature: string) => string): boolean {
  if (!RECOVERABLE_HEX.test(signature)) return false
  try {
    return (
      recover(`0x${signature.replace(/^0x/, '')}`)
        .slice(2)
        .toLowerCase() === account
    )
  } catch {
    // Not a point of the curve, or the larger of the two forms of a signature.
    return false
  }
}

/**
 * Whether a Solana account (32 bytes, hex) signed a text: its plain bytes, as browser wallets sign them, or an off-chain message
 * of version 0, as `solana sign-offchain-message` and Ledger do. `signature` is base58, base64 or hex. Never throws.
 */
export function isSignedBySolana(account: string, text: string, signature: string): boolean {
  const key = Buffer.from(account, 'hex')
  const bytes = Buffer.from(text, 'utf8')
  const messages = [bytes, shortOffchain(bytes), longOffchain(bytes, key)]
  return solanaSignatures(signature).some((given) =>
    messages.some((message) => {
      try {
        return ed25519.verify(given, message, key, { zip215: false })
      } catch {
        return false
      }
    }),
  )
}

/** The header used by the command line and by hardware wallets: version, format, length. */
function shortOffchain(text: Buffer): Buffer {
  const magic = Buffer.from(SOLANA_MAGIC, 'latin1')
  return Buffer.concat([magic, Uint8Array.of(0, RESTRICTED_ASCII), lengthOf(text), text])
}

/** The header of the proposal: version, application, format, signers, length. */
function longOffchain(text: Buffer, signer: Buffer): Buffer {
  const magic = Buffer.from(SOLANA_MAGIC, 'latin1')
  const head = [Uint8Array.of(0), NO_APPLICATION, Uint8Array.of(RESTRICTED_ASCII, 1), signer]
  return Buffer.concat([magic, ...head, lengthOf(text), text])
}

const lengthOf = (text: Buffer): Uint8Array => Uint8Array.of(text.length & 0xff, text.length >> 8)

function solanaSignatures(text: string): readonly Uint8Array[] {
  const forms = [
    () => base58.decode(text),
    () => new Uint8Array(Buffer.from(text, 'base64')),
    () => new Uint8Array(Buffer.from(text.replace(/^0x/, ''), 'hex')),
  ]
  return forms.flatMap((read) => {
    try {
      const bytes = read()
      return bytes.length === SOLANA_SIGNATURE_BYTES ? [bytes] : []
    } catch {
      return []
    }
  })
}
