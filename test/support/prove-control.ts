import { createHash, pbkdf2Sync } from 'node:crypto'
import { HDNodeWallet, Wallet as Signer } from 'ethers'
import type { AdminCaller } from './admin.ts'

/** EVM accounts whose private keys a test has. */
export function evmAccounts(count: number): readonly { readonly address: string; sign(text: string): string }[] {
  return Array.from({ length: count }, () => {
    const signer = Signer.createRandom()
    return { address: signer.address, sign: (text) => signer.signMessageSync(text) }
  })
}

/** Something that can be added as a wallet and proved. */
export interface Subject {
  readonly family: 'evm'
  readonly kind: 'pool' | 'address' | 'xpub'
  readonly value: string
  readonly startIndex?: number
}

/** Asks for a challenge of a wallet that is about to be added, and has it signed by the accounts. */
export async function proofOf(
  { caller, at }: Pick<AdminCaller, 'caller' | 'at'>,
  entered: Subject,
  accounts: ReturnType<typeof evmAccounts>,
) {
  const opId = crypto.randomUUID()
  const { nonce, text } = await caller.wallets.challenge({ ...at, opId, about: { entered } })
  return { nonce, signatures: accounts.map(({ address, sign }) => ({ address, signature: sign(text) })) }
}

/** The master key of a seed phrase as Electrum makes it: not by BIP 39 (electrum/mnemonic.py, `mnemonic_to_seed`). */
export function electrumMaster(phrase: string): HDNodeWallet {
  return HDNodeWallet.fromSeed(pbkdf2Sync(phrase, 'electrum', 2_048, 64, 'sha512'))
}

/** Signs a text as Bitcoin wallets do for addresses that begin with 1 (`signmessage`, BIP 137): base64 of header, r and s. */
export function signBitcoinMessage({ signingKey }: Pick<HDNodeWallet, 'signingKey'>, text: string): string {
  const message = Buffer.from(text, 'utf8')
  const size = message.length < 253 ? [message.length] : [253, message.length & 255, message.length >> 8]
  const sha = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest()
  const magic = Buffer.from('\x18Bitcoin Signed Message:\n', 'latin1')
  const { r, s, yParity } = signingKey.sign(sha(sha(Buffer.concat([magic, Buffer.from(size), message]))))
  const part = (hex: string) => Buffer.from(hex.slice(2), 'hex')
  // 31: compressed public key.
  return Buffer.concat([Buffer.from([31 + yParity]), part(r), part(s)]).toString('base64')
}
