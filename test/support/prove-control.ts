import { Wallet as Signer } from 'ethers'
import type { AdminCaller } from './admin.ts'

/** EVM accounts whose private keys a test has. */
export function evmAccounts(count: number): readonly { readonly address: string; sign(text: string): string }[] {
  return Array.from({ length: count }, () => {
    const signer = Signer.createRandom()
    return { address: signer.address, sign: (text) => signer.signMessageSync(text) }
  })
}

/** Something that can be added as a wallet and proved. */
export interface Provable {
  readonly family: 'evm'
  readonly kind: 'pool' | 'address' | 'xpub'
  readonly value: string
  readonly startIndex?: number
}

/** Asks for a challenge of a wallet that is about to be added, and has it signed by the accounts. */
export async function proofOf(
  { caller, at }: Pick<AdminCaller, 'caller' | 'at'>,
  entered: Provable,
  accounts: ReturnType<typeof evmAccounts>,
) {
  const opId = crypto.randomUUID()
  const { nonce, text } = await caller.wallets.challenge({ ...at, opId, about: { entered } })
  return { nonce, signatures: accounts.map(({ address, sign }) => ({ address, signature: sign(text) })) }
}
