import { HDNodeWallet } from 'ethers'

/** The phrase of every development chain; nothing of worth is ever behind it. */
const PHRASE = 'test test test test test test test test test test test junk'

/** An extended public key of accounts on EVM networks, another one for each index. */
export function accountKey(index: number): string {
  return HDNodeWallet.fromPhrase(PHRASE, '', `m/44'/60'/${index}'`).neuter().extendedKey
}

/** The first addresses of such an account. */
export function accountAddresses(index: number, count: number): readonly string[] {
  const account = HDNodeWallet.fromPhrase(PHRASE, '', `m/44'/60'/${index}'`)
  return Array.from({ length: count }, (_, child) => account.deriveChild(child).address)
}
