import type { AssetId, Mode, NetworkId, PaymentState } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { AuditRecord } from './audit.ts'
import { type BalanceRise, NodeUnreliable } from './scanning.ts'

export interface PaymentBlock {
  readonly height: number
  readonly hash: string
  readonly time: Ms
  /** The readings that told of the payment in this block; only without a transaction. */
  readonly rise?: BalanceRise
}

/** Why a stored payment does not enter its invoice's sums. */
export type UncountedReason =
  | 'wrong_asset'
  | 'wrong_network'
  | 'cancelled'
  | 'late'
  | 'out_of_quote'
  | 'unmatched'
  | 'inactive_lock'
  | 'dust'

/** One transfer to a known address. `key` survives mempool, re-mining and replay. */
export interface Payment {
  /** UUIDv7: the public id, fixed at first sight. */
  readonly id: string
  /** Transfer key, unique in the installation. */
  readonly key: string
  /** The key that this transfer has by today's rule; only where it was stored under a former one, which stays its `key`. */
  readonly currentKey?: string
  readonly mode: Mode
  readonly network: NetworkId
  /** Null for a token we know of but do not accept. */
  readonly asset: AssetId | null
  /** Invoice the address belonged to when the transfer was first seen; never changed by re-mining. */
  readonly invoiceId: string | null
  readonly workspaceId: string | null
  readonly matchKey: string
  readonly toAddress: string
  readonly fromAddress: string | null
  readonly amountBase: bigint
  readonly txHash: string | null
  readonly outputIndex: number | null
  readonly contract: string | null
  readonly kind: 'onchain' | 'simulated'
  readonly state: PaymentState
  readonly block: PaymentBlock | null
  readonly requiredConfirmations: number
  /** Height at which the payment is confirmed; null while it is in no block. */
  readonly confirmAt: number | null
  /** Its block must also be final as the chain itself says. */
  readonly needsFinality: boolean
  /** Outpoints that its transaction spends, `<txid>:<vout>`; whoever else spends one of them replaces it. Empty but for UTXO chains. */
  readonly spends: readonly string[]
  /** Transaction that replaced it. */
  readonly replacedBy: string | null
  readonly confirmedAt: Ms | null
  readonly firstSeenAt: Ms
  /** Rises with every visible change. */
  readonly version: number
  /** Set while a version is not yet applied to the invoice: since when, or when a sweep last named it. Only a hint for the sweep. */
  readonly dirtyAt: Ms | null
  /** Epoch of the scanner lease that wrote last; 0 for simulated payments. */
  readonly scanEpoch: number
  /** Set by the invoice's fold. */
  readonly counted: boolean
  readonly uncountedReason: UncountedReason | null
  readonly late: boolean
  /** Operation that made a simulated payment. */
  readonly opId: string | null
  readonly createdAt: Ms
  readonly updatedAt: Ms
}

/** An invoice that money may be for. */
export interface DisputingInvoice {
  readonly invoiceId: string
  readonly workspaceId: string
  readonly number: number
}

/** What a scanner knows about a transfer; the repository adds identity, versions and times. */
export interface PaymentSighting {
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
  /** Invoices that unmatched money may be for, because their address changed hands lately; said in the inbox, not stored. */
  readonly disputed?: readonly DisputingInvoice[]
}

/**
 * Key of a transfer that moves another amount in another block than the one stored under its key: what a transaction pays
 * out may depend on the block that it stands in, and each amount is a payment of its own.
 */
export const otherAmountKey = (key: string, amountBase: bigint): string => `${key}:${amountBase}`

/** What became of a payment that was in no block yet. */
export type UnconfirmedFate =
  | { readonly key: string; readonly state: 'replaced'; readonly replacedBy: string }
  | { readonly key: string; readonly state: 'dropped' }

/** A newer lease holder wrote a payment of this scanner: stop at once. */
export class ScannerFenced extends Error {
  override readonly name = 'ScannerFenced'
}

/**
 * A block that was scanned before is told with another amount of a transfer: either time a node lied. Nothing of that transfer
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
   * Upserts sightings under their keys, fenced by epoch; immutable fields are written once, the block position
   * follows the chain, an orphaned, dropped or replaced payment that is seen again becomes `detected`. Version and dirtyAt
   * move only when a field moved. Another amount for an existing key is another payment when it stands in another block:
   * the first one is orphaned, the new one stored under `otherAmountKey`. Returns the payments that changed. Throws
   * `ScannerFenced`, and `AmountContradicted` on a differing amount in the same block.
   */
  recordSightings(sightings: readonly PaymentSighting[], epoch: number, at: Ms): Promise<readonly Payment[]>
  /** The `detected` payments that `confirmThrough` would look at. */
  dueForConfirmation(scope: {
    mode: Mode
    network: NetworkId
    height: number
    finalizedHeight: number | null
  }): Promise<readonly Payment[]>
  /**
   * `detected` → `confirmed` for payments with `confirmAt` ≤ height that are final where they must be. Those whose block is
   * not the one that the network's cursor remembers at its height are orphaned instead; those of `except` (transfer keys)
   * stay as they are. Returns what changed.
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
  /** Ends payments that are still `detected` in no block. Returns what changed. Throws `ScannerFenced`. */
  endUnconfirmed(scope: {
    mode: Mode
    network: NetworkId
    fates: readonly UnconfirmedFate[]
    epoch: number
    at: Ms
  }): Promise<readonly Payment[]>
  /** Orphans every live on-chain payment above a fork, or only those that are `detected`. Returns what changed. */
  orphanAbove(scope: {
    mode: Mode
    network: NetworkId
    forkHeight: number
    unconfirmedOnly?: boolean
    epoch: number
    at: Ms
  }): Promise<readonly Payment[]>
  /**
   * Orphans unconfirmed on-chain payments that stand at heights from `from` to the last of these scanned blocks, but in
   * none of them: left by a scanner that stopped between storing payments and moving its cursor. `from` is the height of
   * the first block unless heights before it were found empty; `confirmedToo` takes back confirmed ones as well. Returns
   * what changed.
   */
  orphanStrangers(scope: {
    mode: Mode
    network: NetworkId
    from?: number
    confirmedToo?: boolean
    blocks: readonly Pick<PaymentBlock, 'height' | 'hash'>[]
    epoch: number
    at: Ms
  }): Promise<readonly Payment[]>
  /**
   * Orphans live payments of these keys: they repeat others. Confirmed ones only with `confirmedToo`. Returns what changed.
   * Throws `ScannerFenced`.
   */
  orphanRepeats(scope: {
    mode: Mode
    network: NetworkId
    keys: readonly string[]
    confirmedToo?: boolean
    epoch: number
    at: Ms
  }): Promise<readonly Payment[]>
  /** Stores `currentKey` for payments that have none yet; no version moves, because nothing that anybody sees changes. */
  placeFormer(places: readonly { readonly key: string; readonly currentKey: string }[]): Promise<void>
  /** What `orphanStrangers` would take back. */
  listStrangers(scope: {
    mode: Mode
    network: NetworkId
    from?: number
    confirmedToo?: boolean
    blocks: readonly Pick<PaymentBlock, 'height' | 'hash'>[]
  }): Promise<readonly Payment[]>
  /** Inserts a simulated payment, together with an audit row where one is given; `exists` when the key is taken. */
  insertSimulated(payment: Payment, audit?: AuditRecord): Promise<'inserted' | 'exists'>
  listByInvoice(invoiceId: string): Promise<readonly Payment[]>
  findById(id: string): Promise<Payment | null>
  /** Those of these transfer keys that are stored, in no order. */
  findByKeys(keys: readonly string[]): Promise<readonly Payment[]>
  /** Everything stored of one transaction, by the order of transfer keys. */
  listByTransaction(mode: Mode, network: NetworkId, txHash: string): Promise<readonly Payment[]>
  /** Live on-chain payments to these addresses in one asset that stand in blocks from `from` to `to`. */
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
   * Gives a confirmed payment that belongs to nobody to an invoice, by compare-and-set on its version; the version rises.
   * False when it is another's by now, or changed otherwise.
   */
  attribute(
    payment: Pick<Payment, 'id' | 'version'>,
    owner: { readonly invoiceId: string; readonly workspaceId: string },
    at: Ms,
  ): Promise<boolean>
  /** Those of these transfer keys whose payment belongs to an invoice. */
  attributedAmong(keys: readonly string[]): Promise<ReadonlySet<string>>
  list(query: PaymentListQuery): Promise<readonly Payment[]>
  /** Stores what the fold decided and clears dirtyAt where the version is still the applied one. */
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
   * Invoices that have payments with a version nobody applied since `before`, those that waited longest first, and puts
   * them at the end of the queue (as of `at`): an invoice that cannot be advanced holds up no other one.
   */
  takeDirtyInvoices(scope: { before: Ms; at: Ms; limit: number }): Promise<readonly string[]>
}
