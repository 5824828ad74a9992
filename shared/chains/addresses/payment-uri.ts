import { base58 } from '@scure/base'
import type { ChainDefinition } from '#shared/chains/definitions/chain.ts'
import { formatUnits } from '#shared/domain/money/amount.ts'

/** Content of a payment link. `contract` and `chainId` are those of the payment's mode. */
export interface PaymentRequest {
  readonly chain: ChainDefinition
  readonly contract: string | null
  /** EIP-155 chain id; null for networks without one. */
  readonly chainId: number | null
  readonly address: string
  readonly amountBase: bigint
  /** Of the asset. */
  readonly decimals: number
  /** 32 bytes as hex that the transaction must include (Solana Pay); null for none. */
  readonly reference: string | null
}

/**
 * A link that a wallet turns into a prepared payment: EIP-681 for EVM (always with the chain id, so that a wallet on
 * another network refuses), BIP 21 and its Litecoin and Dogecoin forms, the Solana Pay transfer request. The plain address where wallets agree
 * on no form (TRON).
 */
export function paymentUri(request: PaymentRequest): string {
  const { chain, contract, chainId, address, amountBase, decimals, reference } = request
  if (chain.uriScheme === null) return address
  if (chainId !== null) {
    return contract === null
      ? `${chain.uriScheme}:${address}@${chainId}?value=${amountBase}`
      : `${chain.uriScheme}:${contract}@${chainId}/transfer?address=${address}&uint256=${amountBase}`
  }
  const amount = formatUnits(amountBase, decimals)
  const token = contract === null ? '' : `&spl-token=${contract}`
  const named = reference === null ? '' : `&reference=${base58.encode(Buffer.from(reference, 'hex'))}`
  return `${chain.uriScheme}:${address}?amount=${amount}${token}${named}`
}
