import type { AssetId, Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { AuditRecord } from './audit.ts'

/** Where a scanner stands on one network in one mode. `_id` = `<mode>:<network>`. */
export interface ChainCursor {
  readonly id: string
  readonly mode: Mode
  readonly network: NetworkId
  /** Last block whose transfers are all stored. −1 before the first. */
  readonly height: number
  readonly hash: string
  /** Time of that block. */
  readonly time: Ms
  /** Recent (height, hash) pairs, newest last; dense, then sparse back to finality. */
  readonly window: readonly (readonly [number, string])[]
  readonly headHeight: number
  readonly headSeenAt: Ms
  readonly finalizedHeight: number | null
  /** When the whole mempool was last looked through with the head scanned; absent where it cannot be seen. */
  readonly mempoolAt?: Ms
  readonly status: 'live' | 'catchup' | 'halted'
  readonly haltReason: string | null
  /** Why the scanner waits although it is not halted, in words for a person; null and absent when it does not. */
  readonly waitReason?: string | null
  /** Hash of block 0, to notice another chain behind the same URL. */
  readonly genesisHash: string
  /** Up to this height the scan also takes back confirmed payments whose block is gone: a person or a fork moved the cursor back. */
  readonly recheckThrough?: number | null
  /** The request of a person that moved the cursor last, so that it is not carried out twice. */
  readonly lastCommand?: string | null
  readonly lease: { readonly owner: string; readonly epoch: number; readonly until: Ms } | null
  /** Why the next block cannot be read; null and absent since the cursor passed or stood at its node's head. */
  readonly trouble?: ScanTrouble | null
  /** When the cursor last moved to another block. Absent on cursors of older releases. */
  readonly advancedAt?: Ms
  /** When the node's head was last found to be the cursor's own block; absent where unconfirmed transactions are seen. */
  readonly atHeadAt?: Ms
  /** The last release of deadlines by an operator. It counts only while `hash` is the cursor's hash. */
  readonly released?: DeadlineRelease | null
}

/** Why a scan cannot pass a block, from the first failure in a row to the last one that was written down. */
export interface ScanTrouble {
  /** `node`: an answer is missing or wrong; `mismatch`: the node is refused; `other`: our own code or store failed. */
  readonly kind: 'node' | 'mismatch' | 'other'
  /** The block that cannot be read; nothing above it is read either. */
  readonly height: number
  readonly hash: string | null
  /** RPC method or HTTP path; null where no single call is to blame. */
  readonly method: string | null
  /** One sentence. Names hosts, never paths, queries or credentials of a URL; at most 300 printable characters. */
  readonly reason: string
  /** Of the node that was asked last; null when it is not known. */
  readonly host: string | null
  readonly firstAt: Ms
  readonly lastAt: Ms
  /** Failures in a row, at least: not each one is written. */
  readonly tries: number
}

/** An operator lets deadlines of a stuck network pass although its blocks were not read. */
export interface DeadlineRelease {
  /** Deadlines up to this moment pass. Never later than `at`. */
  readonly through: Ms
  /** Hash of the cursor that it was given for: it ends when the cursor moves. */
  readonly hash: string
  readonly by: string
  readonly at: Ms
  /** Names the operator's request, so that a repetition is recognised. */
  readonly opId: string
}

export interface CursorRepository {
  find(mode: Mode, network: NetworkId): Promise<ChainCursor | null>
  list(): Promise<readonly ChainCursor[]>
  /** Creates the cursor when there is none; returns the stored one. */
  create(cursor: ChainCursor): Promise<ChainCursor>
  /** Takes the lease when it is free, expired or ours; each new holder gets a higher epoch. Null when another holds it. */
  acquireLease(mode: Mode, network: NetworkId, owner: string, leaseMs: number): Promise<{ epoch: number } | null>
  releaseLease(mode: Mode, network: NetworkId, owner: string): Promise<void>
  /** Compare-and-set on (hash, lease epoch); false = fenced or moved: stop and reload. */
  advance(
    mode: Mode,
    network: NetworkId,
    expected: { hash: string; epoch: number },
    next: Partial<Omit<ChainCursor, 'id' | 'mode' | 'network' | 'lease' | 'released'>>,
  ): Promise<boolean>
  /**
   * Stores a release and its audit row in one transaction. False, with nothing written, when the cursor is not at
   * `release.hash` any more or the same or a later moment was released for it already.
   */
  releaseDeadlines(mode: Mode, network: NetworkId, release: DeadlineRelease, audit: AuditRecord): Promise<boolean>
}

export interface BlockRef {
  readonly height: number
  readonly hash: string
  readonly parentHash: string
  readonly time: Ms
}

/** A value transfer found in a block, before anyone asked whose address it is. */
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
  /** Blocks that must lie on it whatever the policy says, its own included: coinbase maturity, Litecoin peg-outs. Absent = 1. */
  readonly minConfirmations?: number
  /** Outpoints `<txid>:<vout>` that the transaction spends: another transaction that spends one of them replaces it. UTXO only. */
  readonly spends?: readonly string[]
  /** Other accounts that the transaction names, as match keys: a Solana Pay reference is among them. */
  readonly references?: readonly string[]
  /** A coin that moved inside of a contract call: a balance may have told of it before. */
  readonly inside?: true
  /** Earlier versions stored this kind of transfer under other keys (`call-move-keys.ts`): it may be stored already. */
  readonly mayHaveFormerKey?: true
}

/** A transfer of a block, or a rise of a balance that no transfer explains: that has no transaction. */
export type LedgerTransfer = Omit<RawTransfer, 'txHash'> & {
  readonly txHash: string | null
  /** The readings that told of it; present exactly when there is no transaction. */
  readonly rise?: BalanceRise
}

/** Two readings of one balance in base units: at the end of an earlier block, and of the block that the rise is put in. */
export interface BalanceRise {
  readonly since: { readonly height: number; readonly hash: string }
  readonly beforeBase: string
  readonly afterBase: string
}

/** What an account spent in one block by transactions of its own. */
export interface Spending {
  /** Coins sent away and fees, those of failed transactions included. */
  readonly spentBase: bigint
  /** The fees in it. */
  readonly feesBase: bigint
}

/** Which of the outpoints that were asked for are spent, and by which transaction. */
export type Spenders = ReadonlyMap<string, string>

export interface ScannedBlock extends BlockRef {
  /** Only transfers to watched addresses. */
  readonly transfers: readonly RawTransfer[]
  /** Spenders in this block of the outpoints asked for. UTXO only. */
  readonly spent?: Spenders
  /** For how long at least transactions of `transfers` were known before, milliseconds by id: they stood in a mempool. UTXO only. */
  readonly agesMs?: ReadonlyMap<string, number>
  /** By match key; present where balances tell of coins inside of calls and accounts were asked for. Who spent nothing is missing. */
  readonly spending?: ReadonlyMap<string, Spending>
  /** Present when some transactions of the block could not be read by any node, so that balances were compared instead. */
  readonly unread?: UnreadTransactions
}

/** Transactions of a block whose inner moves no node shows, and what the balances of watched accounts say instead. */
export interface UnreadTransactions {
  /** Ids of the transactions, in the order of the block. */
  readonly txHashes: readonly string[]
  /** RPC method that failed, as the node spells it. */
  readonly method: string
  /** One sentence about what failed. Names hosts, never paths, queries or credentials of a URL. */
  readonly reason: string
  /** Watched accounts whose balance changed by another amount than readable transactions explain. */
  readonly moved: readonly UnexplainedMove[]
}

/** What one account's balance did in one block. Amounts in base units of the network's coin. */
export interface UnexplainedMove {
  readonly matchKey: string
  readonly address: string
  readonly asset: AssetId
  /** Balance at the end of the parent block. */
  readonly beforeBase: bigint
  /** Balance at the end of the block. */
  readonly afterBase: bigint
  /** Sent to it by transactions themselves (their transfers are in the block), less what it spent itself. */
  readonly knownBase: bigint
  /** Fees that it paid in this block. */
  readonly feesBase: bigint
}

/** A node's unconfirmed transactions at one moment. */
export interface MempoolView {
  /** True while some transactions could not be looked at yet: `transfers` and `spent` may lack something, `txids` does not. */
  readonly partial?: boolean
  /** True while the node still reads the mempool that it kept over a restart: `txids` lacks something as well. */
  readonly loading?: boolean
  /** For how long at least the node has had transactions of `transfers`, milliseconds by id. Absent: since now. */
  readonly agesMs?: ReadonlyMap<string, number>
  /** All transfers to watched addresses, also those that earlier views showed. */
  readonly transfers: readonly RawTransfer[]
  /** Ids of all unconfirmed transactions. */
  readonly txids: ReadonlySet<string>
  /** Spenders in the mempool of the outpoints asked for. */
  readonly spent: Spenders
}

/** Exact membership of receiving addresses; the scanner's question per transfer. */
export interface WatchIndex {
  has(matchKey: string): boolean
  add(matchKey: string): void
  readonly size: number
  /** Every key, in no order. Keys that are added meanwhile may be missing. */
  keys(): Iterable<string>
}

/** One network's node(s) as the scan loop sees them. All answers are validated; a doubtful one throws. */
export interface ChainClient {
  /** True where heights without a block are ordinary: skipped slots of Solana. */
  readonly hasGaps?: boolean
  /** Checks chain id and every token's `decimals()` against the registry row. Throws `NodeMismatch`. */
  verify(): Promise<void>
  genesisHash(): Promise<string>
  head(): Promise<{ height: number; hash: string; finalizedHeight: number | null }>
  /** Null when the node has no block at that height. */
  blockAt(height: number): Promise<BlockRef | null>
  /**
   * Blocks `from`…`to` in order, each with its matched transfers. Throws rather than leaving anything out. May end before
   * `to` where the next block needs another way of reading: the caller asks again from there. With gaps: those that exist,
   * and when none does, the first one above `to` up to the head; never nothing while the head is above `from`. Throws
   * `BlockUnreadable` when one block fails by every way.
   */
  scan(
    from: number,
    to: number,
    watches: WatchIndex,
    outpoints?: ReadonlySet<string>,
    accounts?: ReadonlySet<string>,
  ): Promise<readonly ScannedBlock[]>
  /** Absent where coins never have to be told from balances. */
  readonly balances?: BalanceLedger
  /** The whole mempool, for chains whose unconfirmed transactions can be seen. */
  mempool?(watches: WatchIndex, outpoints: ReadonlySet<string>): Promise<MempoolView>
  /**
   * Those of these transactions that some node of the network has in its mempool, or may have because it still reads its own
   * or hears of none. Absent where there is no mempool. Throws `NodeUnreliable` when no node answers.
   */
  heldUnconfirmed?(txids: readonly string[]): Promise<ReadonlySet<string>>
  /**
   * Those of these transactions that are not shown, successful, in the same block by a second node, which is another one than
   * that which gave the block: by their `txHash`. Empty when there is no second node; throws `NodeUnreliable` when there is
   * one and it does not answer.
   */
  doubted?(transactions: readonly SeenTransaction[]): Promise<ReadonlySet<string>>
  /** Which nodes are down; absent where there is one node. */
  silence?(): Silence
  /**
   * Whether a block of ours that the node in use no longer has is gone for the network's other nodes as well. `gone` where
   * there are none. Absent where there can be none.
   */
  judge?(block: { readonly height: number; readonly hash: string }): Promise<ForkVerdict>
  /**
   * Where a transaction stands: `unconfirmed` in no block yet, `not_searchable` when the node cannot look up single
   * transactions, null when it knows of none. For people who ask, never for what is credited.
   */
  locate?(txHash: string): Promise<TransactionPlace | 'unconfirmed' | 'not_searchable' | null>
  /**
   * Match keys of those addresses that were used before, as far as a node shows it. Throws `NodeUnreliable` when it does not
   * have the whole chain yet or its answer is unclear: an address that is left out was looked at and shows no use. Absent for
   * families whose nodes cannot be asked. May take minutes.
   */
  used?(addresses: readonly { readonly address: string; readonly matchKey: string }[]): Promise<ReadonlySet<string>>
}

/** Nodes that cannot vouch for anything now. */
export interface Silence {
  /** Hosts of those that failed several times in a row, and nothing else since. */
  readonly hosts: readonly string[]
  /** How many nodes on our chain are left. */
  readonly answering: number
}

/** A transaction in the block that it was scanned in. */
export interface SeenTransaction {
  readonly txHash: string
  readonly height: number
  readonly blockHash: string
  /** What it moved, as it was scanned: who vouches must show that too, where the network's nodes can. */
  readonly transfer?: Pick<RawTransfer, 'key' | 'matchKey' | 'contract' | 'amountBase'>
}

/**
 * What the nodes of a network say together about a block of ours: it is on another branch now; it is where it was, and
 * whoever said otherwise is left out; or they do not agree (yet), so nothing may be concluded.
 */
export type ForkVerdict = 'gone' | 'kept' | 'disputed'

/** Balances of the network's own coin, where nothing else shows what moves inside of contract calls. */
export interface BalanceLedger {
  /** Whether they are the ledger now; false as soon as a node shows more. */
  readonly inUse: boolean
  /** Balances at the end of a block, one for each match key; null where no node has the state of that block any more. */
  read(
    matchKeys: readonly string[],
    block: { readonly height: number; readonly hash: string },
  ): Promise<ReadonlyMap<string, bigint> | null>
  /**
   * Those of these rises, by `key`, whose readings a second node contradicts. One that has dropped the state of their blocks
   * contradicts nothing. Empty when there is no second node; throws `NodeUnreliable` when there is one and it does not answer.
   */
  doubted(rises: readonly SeenRise[]): Promise<ReadonlySet<string>>
}

/** A rise of one account's balance and the block that it was put in. */
export interface SeenRise extends BalanceRise {
  readonly key: string
  readonly matchKey: string
  readonly height: number
  readonly hash: string
}

/** Where a node says that a transaction stands. */
export interface TransactionPlace {
  readonly height: number
  readonly blockHash: string
  /** False when it was mined and failed: it moved nothing. */
  readonly succeeded: boolean
}

/** The node is on another chain or a token has other decimals than our row: never scan it. */
export class NodeMismatch extends Error {
  override readonly name = 'NodeMismatch'
}

/** The node's answer is missing, contradictory or malformed: try again, the cursor stays. */
export class NodeUnreliable extends Error {
  override readonly name: string = 'NodeUnreliable'
  /** The call that failed, where a single one is to blame: RPC method or HTTP path, and the host that was asked. */
  readonly call: { readonly method: string; readonly host: string } | null = null
}

/** Which block could not be read, with which call, and why: what an operator needs in order to act. */
export interface UnreadableBlock {
  readonly height: number
  /** Null when the failure came before the hash was known. */
  readonly hash: string | null
  /** RPC method (or HTTP path) that failed, as the node spells it: `trace_block`, `eth_getLogs`. */
  readonly method: string
  /** One sentence about what failed. Names hosts, never paths, queries or credentials of a URL. */
  readonly reason: string
}

/** One block could not be read by any way that this family knows. The cursor stays before it. */
export class BlockUnreadable extends NodeUnreliable {
  override readonly name = 'BlockUnreadable'
  readonly block: UnreadableBlock

  constructor(block: UnreadableBlock, cause?: unknown) {
    super(
      `block ${block.height} cannot be read: ${block.method}: ${block.reason}`,
      cause === undefined ? undefined : { cause },
    )
    this.block = block
  }
}
