import type { Payment, PaymentBlock } from '#shared/db/payments/payment-model.ts'
import type { AssetId, Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { AuditRecord } from './audit.ts'
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

export interface PaymentRepository {
  /**
   * Upserts observations under their keys, fenced by epoch; immutable fields are written once, the block position
   * follows the chain, and an orphaned, dropped or replaced payment that is seen again becomes `detected`. Version and dirtyAt
   * change only when a field changed. Another amount for an existing key is a separate payment when it is in another block:
   * the first one is orphaned, the new one stored under `otherAmountKey`. Returns the payments that changed. Throws
   * `ScannerFenced`, and `AmountContradicted` on a differing amount in the same block.
   */
  recordObservations(observations: readonly ObservedTransfer[], epoch: number, at: Ms): Promise<readonly Payment[]>
  /** The `detected` payments that `confirmThrough` would check. */
  dueForConfirmation(scope: {
    mode: Mode
    network: NetworkId
    height: number
    finalizedHeight: number | null
  }): Promise<readonly Payment[]>
  /**
   * `detected` → `confirmed` for payments with `confirmAt` ≤ height that are final where required. Those whose block
   * differs from the one in the network's cursor at its height are orphaned instead; those of `except` (transfer keys)
   * are unchanged. Returns the changed payments.
   */
  confirmThrough(scope: {
    mode: Mode
    network: NetworkId
    height: number
    finalizedHeight: number | null
    except?: readonly string[]
    epoch: number
    at: Ms
  }): Promise<readonly Payment[]>
  /** The `detected` on-chain payments of a network that are in no block. */
  unconfirmed(mode: Mode, network: NetworkId): Promise<readonly Payment[]>
  /** Ends payments that are still `detected` in no block. Returns the changed payments. Throws `ScannerFenced`. */
  endUnconfirmed(scope: {
    mode: Mode
    network: NetworkId
    outcomes: readonly UnconfirmedOutcome[]
    epoch: number
    at: Ms
  }): Promise<readonly Payment[]>
  /** Orphans every live on-chain payment above a fork, or only those that are `detected`. Returns the changed payments. */
  orphanAbove(scope: {
    mode: Mode
    network: NetworkId
    forkHeight: number
    unconfirmedOnly?: boolean
    epoch: number
    at: Ms
  }): Promise<readonly Payment[]>
  /**
   * Orphans unconfirmed on-chain payments at heights from `from` to the last of these scanned blocks that are in
   * none of them: left by a scanner that stopped between storing payments and moving its cursor. `from` is the height of
   * the first block unless earlier heights were found empty; `confirmedToo` orphans confirmed ones as well. Returns
   * the changed payments.
   */
  orphanMissing(scope: {
    mode: Mode
    network: NetworkId
    from?: number
    confirmedToo?: boolean
    blocks: readonly Pick<PaymentBlock, 'height' | 'hash'>[]
    epoch: number
    at: Ms
  }): Promise<readonly Payment[]>
  /** The payments that `orphanMissing` would orphan. */
  listNonCanonical(scope: {
    mode: Mode
    network: NetworkId
    from?: number
    confirmedToo?: boolean
    blocks: readonly Pick<PaymentBlock, 'height' | 'hash'>[]
  }): Promise<readonly Payment[]>
  /** Inserts a simulated payment, together with an audit row if one is given; `exists` when the key is taken. */
  insertSimulated(payment: Payment, audit?: AuditRecord): Promise<'inserted' | 'exists'>
  /** `detected` → `confirmed` for the simulated payments of an invoice; other payments are unchanged. */
  confirmSimulated(invoiceId: string, at: Ms): Promise<void>
  listByInvoice(invoiceId: string): Promise<readonly Payment[]>
  findById(id: string): Promise<Payment | null>
  /** Those of these transfer keys that are stored, in no order. */
  findByKeys(keys: readonly string[]): Promise<readonly Payment[]>
  /** Everything stored of one transaction, by the order of transfer keys. */
  listByTransaction(mode: Mode, network: NetworkId, txHash: string): Promise<readonly Payment[]>
  /** Live on-chain payments to these addresses in one asset in blocks from `from` to `to`. */
  listInBlocks(scope: {
    mode: Mode
    network: NetworkId
    asset: AssetId
    matchKeys: readonly string[]
    from: number
    to: number
  }): Promise<readonly Payment[]>
  /** Payments whose transfer key begins with this text and a colon, by the order of transfer keys. */
  listByKeyPrefix(prefix: string): Promise<readonly Payment[]>
  /** Payments to these addresses that belong to no invoice, newest first. */
  listUnheld(mode: Mode, matchKeys: readonly string[], limit: number): Promise<readonly Payment[]>
  /** Live on-chain payments in blocks from `from` to `to`: how many there are, and how many of them are confirmed. */
  countInBlocks(scope: {
    mode: Mode
    network: NetworkId
    from: number
    to: number
  }): Promise<{ readonly live: number; readonly confirmed: number }>
  /**
   * Assigns an unmatched confirmed payment to an invoice, by compare-and-set on its version, which is incremented.
   * False when it belongs to another invoice by now, or changed otherwise.
   */
  attribute(
    payment: Pick<Payment, 'id' | 'version'>,
    owner: { readonly invoiceId: string; readonly workspaceId: string },
    at: Ms,
  ): Promise<boolean>
  /** Those of these transfer keys whose payment belongs to an invoice. */
  attributedAmong(keys: readonly string[]): Promise<ReadonlySet<string>>
  list(query: PaymentListQuery): Promise<readonly Payment[]>
  /** Stores the fold's decisions and clears dirtyAt where the version is still the applied one. */
  markApplied(
    rows: readonly {
      key: string
      version: number
      counted: boolean
      uncountedReason: UncountedReason | null
      late: boolean
    }[],
  ): Promise<void>
  /**
   * Invoices with payments whose version has not been applied since `before`, those that waited longest first. Moves
   * them to the end of the queue (as of `at`): an invoice that cannot be advanced does not delay others.
   */
  takeDirtyInvoices(scope: { before: Ms; at: Ms; limit: number }): Promise<readonly string[]>
}
