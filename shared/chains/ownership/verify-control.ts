import type { Family } from '#shared/domain/enumerations.ts'
import { isSignedByEvm, isSignedBySolana, isSignedByTron } from './signed-by-account.ts'
import { isSignedByScript } from './signed-by-script.ts'

/** Longer texts are not signatures: a witness of BIP 322 has 144 characters. */
const SIGNATURE_MAX = 400

type Verify = (matchKey: string, text: string, signature: string) => boolean

const VERIFY: Readonly<Record<Family, Verify>> = {
  bitcoin: (...given) => isSignedByScript('bitcoin', ...given),
  litecoin: (...given) => isSignedByScript('litecoin', ...given),
  dogecoin: (...given) => isSignedByScript('dogecoin', ...given),
  evm: isSignedByEvm,
  tron: isSignedByTron,
  solana: isSignedBySolana,
}

/**
 * Whether the private key of an address signed a text. `matchKey` is the address in bytes (lower-case hex). False for any
 * other text; never throws.
 */
export function verifyControl(family: Family, matchKey: string, text: string, signature: string): boolean {
  const given = signature.trim()
  return given.length <= SIGNATURE_MAX && VERIFY[family](matchKey, text, given)
}
