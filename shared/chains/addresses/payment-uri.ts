import { base58 } from '@scure/base'
import type { ChainDefinition } from '#shared/chains/definitions/chain.ts'

/** Content of a payment link. `contract` and `chainId` are those of the payment's mode. */
export interface PaymentRequest {
  readonly chain: ChainDefinition
  readonly contract: string | null
  /** EIP-155 chain id; null for networks without one. */
  readonly chainId: number | null
  readonly address: string
  /** Decimal asset units. */
  readonly amount: string
  readonly amountBase: bigint
  /** 32 bytes as hex that the transaction must include (Solana Pay); null for none. */
  readonly reference: string | null
}

/**
 * A link that a wallet turns into a prepared payment: EIP-681 for EVM (always with the chain id, so that a wallet on
 * another network refuses), BIP 21 and its Litecoin and Dogecoin forms, the Solana Pay transfer request, `tron:`.
 */
export function paymentUri(request: PaymentRequest): string {
  const { chain, contract, chainId, address, amount, amountBase, reference } = request
  if (chainId !== null) {
    return contract === null
      ? `${chain.uriScheme}:${address}@${chainId}?value=${amountBase}`
      : `${chain.uriScheme}:${contract}@${chainId}/transfer?address=${address}&uint256=${amountBase}`
  }
  const token = contract === null ? '' : `&${TOKEN_PARAMETER[chain.uriScheme] ?? 'token'}=${contract}`
  const named = reference === null ? '' : `&reference=${base58.encode(Buffer.from(reference, 'hex'))}`
  return `${chain.uriScheme}:${address}?amount=${amount}${token}${named}`
}

const TOKEN_PARAMETER: Readonly<Record<string, string>> = { solana: 'spl-token', tron: 'token' }
