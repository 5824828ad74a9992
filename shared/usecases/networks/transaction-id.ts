import { PaymeshError } from '#shared/contracts/errors.ts'
import type { Family } from '#shared/domain/enumerations.ts'

const HASH = /^[0-9a-f]{64}$/
/** 64 bytes in base58. */
const SIGNATURE = /^[1-9A-HJ-NP-Za-km-z]{64,88}$/

/**
 * A transaction id as transfer keys carry it: hex in small letters, with 0x on EVM networks only; Solana's are case-sensitive. Throws
 * `VALIDATION_ERROR` with path `txid` for text of another form.
 */
export function transactionId(family: Family, text: string): string {
  const given = text.trim()
  const hex = given.toLowerCase().replace(/^0x/, '')
  const isSolana = family === 'solana'
  if (!(isSolana ? SIGNATURE.test(given) : HASH.test(hex))) {
    const form = isSolana ? 'a signature in base58' : '64 hex digits'
    throw new PaymeshError('VALIDATION_ERROR', { details: [{ path: 'txid', message: `must be ${form}` }] })
  }
  if (isSolana) return given
  return family === 'evm' ? `0x${hex}` : hex
}

/** True for text that may be an id of a transaction of the family. */
export function mayBeTransactionId(family: Family, text: string): boolean {
  try {
    return transactionId(family, text) !== ''
  } catch {
    return false
  }
}
