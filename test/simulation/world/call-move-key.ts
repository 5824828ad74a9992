import { formatAccount } from '#shared/chains/families/tron/address.ts'

/** The contract that pays, 20 bytes in hex. */
export const CALL_PAYER = '11'.repeat(20)

/** The key that a move inside of a call has whatever its node records: the world's own word, not the product's. */
export function callMoveKey(
  transaction: string,
  move: { readonly matchKey: string; readonly amountBase: bigint },
  ordinal: number,
): string {
  return `${transaction}:i:${formatAccount(CALL_PAYER)}:${formatAccount(move.matchKey)}:${move.amountBase}:${ordinal}`
}
