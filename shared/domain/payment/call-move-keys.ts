/** The parts of the key of an internal transfer, as stored with payments. */
interface CallMove {
  readonly toAddress: string
  readonly fromAddress: string | null
  readonly amountBase: bigint
}

/**
 * Prefix of the keys of equal transfers of one transaction: `<mode>:<network>:<txid>:i:<payer>:<payee>:<base units>`.
 * The key itself ends with the transfer's number among these, from 0 in order of execution. Every node that records internal
 * transfers gives the same one, whatever else it records. An unknown payer is `-`.
 */
export function callMoveStem(transaction: string, { fromAddress, toAddress, amountBase }: CallMove): string {
  return `${transaction}:i:${fromAddress ?? '-'}:${toAddress}:${amountBase}`
}
