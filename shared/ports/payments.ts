import type { Payment, PaymentBlock } from '#shared/db/payments/payment-model.ts'
import type { AssetId, Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import { NodeUnreliable } from './scanning.ts'

export type { Payment, PaymentBlock } from '#shared/db/payments/payment-model.ts'

/** Why a stored payment does not enter its invoice's sums. */
export type UncountedReason = NonNullable<Payment['uncountedReason']>

/** An invoice that money may be for. */
export interface DisputingInvoice {
  readonly invoiceId: string
  readonly workspaceId: string
  readonly number: number
}

/** A scanner's record of a transfer; the repository adds identity, versions and times. */
export interface ObservedTransfer {
  readonly key: string
  readonly mode: Mode
  readonly network: NetworkId
  readonly asset: AssetId | null
  readonly invoiceId: string | null
  readonly workspaceId: string | null
  readonly matchKey: string
  readonly toAddress: string
  readonly fromAddress: string | null
  readonly amountBase: bigint
  readonly txHash: string | null
  readonly outputIndex: number | null
  readonly contract: string | null
  readonly block: PaymentBlock | null
  readonly requiredConfirmations: number
  readonly needsFinality: boolean
  readonly spends: readonly string[]
  readonly firstSeenAt: Ms
  readonly uncountedReason: UncountedReason | null
  /** Invoices that unmatched money may be for, because their address recently changed hands; named in the exception, not stored. */
  readonly disputed?: readonly DisputingInvoice[]
}

/**
 * Key of a transfer with another amount in another block than the one stored under its key: a transaction's
 * payout may depend on its block, and each amount is a separate payment.
 */
export const otherAmountKey = (key: string, amountBase: bigint): string => `${key}:${amountBase}`

/** Outcome of a payment that was in no block yet. */
export type UnconfirmedOutcome =
  | { readonly key: string; readonly state: 'replaced'; readonly replacedBy: string }
  | { readonly key: string; readonly state: 'dropped' }

/** A newer lease holder wrote a payment of this scanner: stop at once. */
export class ScannerFenced extends Error {
  override readonly name = 'ScannerFenced'
}

/**
 * A scanned block is reported with another amount of a transfer: one of the two reports is wrong. Nothing of that transfer
 * was written.
 */
export class AmountContradicted extends NodeUnreliable {
  constructor(key: string, storedBase: string | null, seenBase: bigint) {
    super(`transfer ${key} was stored with ${storedBase ?? 'no'} base units, now seen with ${seenBase}`)
  }
}

export interface PaymentListQuery {
  readonly workspaceId: string
  readonly mode: Mode
  readonly invoiceId: string | null
  readonly limit: number
  readonly beforeId: string | null
}
