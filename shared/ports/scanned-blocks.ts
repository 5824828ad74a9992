import type { AssetId } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'

export interface BlockRef {
  readonly height: number
  readonly hash: string
  readonly parentHash: string
  readonly time: Ms
}

/** A value transfer found in a block, before it is matched to an invoice. */
export interface RawTransfer {
  readonly key: string
  /** Lower-case hex of the recipient. */
  readonly matchKey: string
  readonly toAddress: string
  readonly fromAddress: string | null
  /** Null for a sibling token that is recorded but never credited. */
  readonly asset: AssetId | null
  readonly contract: string | null
  readonly amountBase: bigint
  readonly txHash: string
  readonly outputIndex: number | null
  /** Confirmations required whatever the policy says, its own block included: coinbase maturity, Litecoin peg-outs. Absent = 1. */
  readonly minConfirmations?: number
  /** Outpoints `<txid>:<vout>` that the transaction spends: another transaction that spends one of them replaces it. UTXO only. */
  readonly spends?: readonly string[]
  /** Other accounts in the transaction, as match keys: a Solana Pay reference is one of them. */
  readonly references?: readonly string[]
}

/** A transfer of a block, or a balance increase that no transfer explains: the latter has no transaction. */
export type LedgerTransfer = Omit<RawTransfer, 'txHash'> & {
  readonly txHash: string | null
  /** The readings that showed it; present exactly when there is no transaction. */
  readonly increase?: BalanceIncrease
  /** Of an increase over several blocks: the time from which on it may have come. Absent: that of its block. */
  readonly from?: Ms
}

/** Blocks with the transfers found in them, balance increases included. */
export interface TransferBlock extends BlockRef {
  readonly transfers: readonly LedgerTransfer[]
}

/** Two readings of one balance in base units: at the end of an earlier block, and of the block to which the increase is assigned. */
export interface BalanceIncrease {
  readonly since: { readonly height: number; readonly hash: string }
  readonly beforeBase: string
  readonly afterBase: string
  /** What another node returned for both blocks when the increase was found: the same figures, or others. Absent when none had their state. */
  readonly second?: SecondFigures
}

/** The figures of a second node compared with those of an increase. */
export type SecondFigures = 'same' | 'other'

/** Amount that an account spent in one block by its own transactions. */
export interface Spending {
  /** Coins sent away and fees, those of failed transactions included. */
  readonly spentBase: bigint
  /** The fees in it. */
  readonly feesBase: bigint
}

/** The requested outpoints that are spent, and by which transaction. */
export type Spenders = ReadonlyMap<string, string>

export interface ScannedBlock extends BlockRef {
  /** Only transfers to watched addresses. */
  readonly transfers: readonly RawTransfer[]
  /** Spenders in this block of the requested outpoints. UTXO only. */
  readonly spent?: Spenders
  /** Minimum time that transactions of `transfers` were known before, milliseconds by id: they were in a mempool. UTXO only. */
  readonly agesMs?: ReadonlyMap<string, number>
  /** By match key; present where accounts were requested, on networks with balances. Accounts that spent nothing are missing. */
  readonly spending?: ReadonlyMap<string, Spending>
}

/** Balance of one account before and after one block, in base units of the native coin. */
export interface BalanceChange {
  readonly matchKey: string
  /** At the end of the parent block. */
  readonly beforeBase: bigint
  /** At the end of the block. */
  readonly afterBase: bigint
}

/** A node's unconfirmed transactions at one moment. */
export interface MempoolView {
  /** True while some transactions could not be read yet: `transfers` and `spent` may be incomplete, `txids` is not. */
  readonly partial?: boolean
  /** Names transactions that the node lists and does not give, with its words; null or absent when there are none. They are read alone. */
  readonly unread?: string | null
  /** True while the node still reloads its saved mempool after a restart: `txids` is incomplete as well. */
  readonly loading?: boolean
  /** Why the node may not have everything that its network has, although its transfers are real; null or absent: it has. */
  readonly unproven?: string | null
  /** Minimum time that the node has had transactions of `transfers`, milliseconds by id. Absent: since now. */
  readonly agesMs?: ReadonlyMap<string, number>
  /** All transfers to watched addresses, also those of earlier views. */
  readonly transfers: readonly RawTransfer[]
  /** Ids of all unconfirmed transactions. */
  readonly txids: Pick<ReadonlySet<string>, 'has'>
  /** Spenders in the mempool of the requested outpoints. */
  readonly spent: Spenders
}
