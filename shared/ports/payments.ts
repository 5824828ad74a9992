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

/** What a transfer moves, and to whom. */
type Move = Pick<Payment, 'matchKey' | 'contract' | 'amountBase'>
type KeyedMove = Move & { readonly key: string }

/**
 * Whether two transfers under one key are the same payment. What a contract pays, in which token and to whom may depend on the block of its
 * transaction, and a key may name no more than a place in it (TRON): in another block it may be another payment.
 */
export const isSameMove = (one: Move, other: Move): boolean =>
  one.amountBase === other.amountBase && isSameParty(one, other)

const isSameParty = (one: Move, other: Move): boolean =>
  one.matchKey === other.matchKey && one.contract === other.contract

/** The keys under which a transfer may be stored: its own, and the two of `otherMoveKey`. */
export function keysOfMove({ key, matchKey, contract, amountBase }: KeyedMove): readonly [string, string, string] {
  const withAmount = `${key}:${amountBase}`
  return [key, withAmount, `${withAmount}:${matchKey}:${contract ?? ''}`]
}

/** Key of a transfer whose own key is that of a different one in another block: names what differs. */
export function otherMoveKey(transfer: KeyedMove, stored: Move): string {
  const [, withAmount, withParty] = keysOfMove(transfer)
  return isSameParty(transfer, stored) ? withAmount : withParty
}

/** The stored payment that a transfer is, among those by key; undefined when there is none. */
export const storedMove = (stored: ReadonlyMap<string, Payment>, transfer: KeyedMove): Payment | undefined =>
  keysOfMove(transfer)
    .flatMap((key) => stored.get(key) ?? [])
    .find((payment) => isSameMove(payment, transfer))

/** Key of the part of a transfer that pays the invoice of one of its references: 32 bytes as hex. */
export const partKey = (key: string, reference: string): string => `${key}:${reference}`

/** Key of the transfer that a payment with this key is a part of; null when it is none. References are Solana's, whose own keys have five parts. */
export const wholeKey = (key: string): string | null =>
  /^((?:[^:]+:){4}[^:]+):[0-9a-f]{64}(?::\d+)?$/.exec(key)?.[1] ?? null

/** Outcome of a payment that was in no block yet. */
export type UnconfirmedOutcome =
  | { readonly key: string; readonly state: 'replaced'; readonly replacedBy: string }
  | { readonly key: string; readonly state: 'dropped' }

/** A newer lease holder wrote a payment of this scanner: stop at once. */
export class ScannerFenced extends Error {
  override readonly name = 'ScannerFenced'
}

/**
 * A scanned block is reported with another amount, receiver or token of a transfer: one of the two reports is wrong. Nothing of that transfer
 * was written.
 */
export class AmountContradicted extends NodeUnreliable {
  constructor(key: string, stored: ShownMove | null, seen: ShownMove) {
    const what =
      stored?.amountBase === seen.amountBase
        ? `${partyText(stored)}, now seen with ${partyText(seen)}`
        : `${stored?.amountBase ?? 'no'} base units, now seen with ${seen.amountBase}`
    super(`transfer ${key} was stored with ${what}`)
  }
}

type ShownMove = Pick<Payment, 'toAddress' | 'contract' | 'amountBase'>

const partyText = ({ toAddress, contract }: ShownMove): string =>
  `${contract === null ? '' : `token ${contract} and `}receiver ${toAddress}`

export interface PaymentListQuery {
  readonly workspaceId: string
  readonly mode: Mode
  readonly invoiceId: string | null
  readonly limit: number
  readonly beforeId: string | null
}
