import type { AssetId } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { AccountReader } from './account-reader.ts'
import type { FundsReader } from './funds.ts'
import type { Shortcoming } from './node-states.ts'
import type {
  BalanceIncrease,
  BlockRef,
  MempoolView,
  RawTransfer,
  ScannedBlock,
  SecondFigures,
} from './scanned-blocks.ts'

/** Membership test of receiving addresses, used for every transfer. Never false for a watched one. */
export interface WatchIndex {
  /** Exact where `among` is absent; otherwise true for a few strangers as well. */
  has(matchKey: string): boolean
  add(matchKey: string): void
  /** Keys in memory. */
  readonly size: number
  /** Every key, or those of an age, in no order. Concurrently added keys may be missing. */
  keys(of?: WatchAge): Iterable<string> | AsyncIterable<string>
  /** Those of these keys, for which `has` is true, that are watched. Reads the store; rejects when it does not respond. */
  among?(matchKeys: readonly string[]): Promise<ReadonlySet<string>>
  /** The addresses that are not in memory; absent where all of them are. */
  readonly cold?: ColdWatches
  /** Drops keys from memory that `cold` answers for. */
  shrink?(): void
}

/** Which keys: those in memory, or also those that left it after a time. */
export type WatchAge = 'hot' | Ms

/**
 * Addresses whose late-watch time is over, of one mode and family: a filter in memory, shared by all networks of a process, that says for
 * certain which keys are none of them.
 */
export interface ColdWatches {
  /** False only for a key that is in no pack that was read. */
  mayHold(matchKey: string): boolean
  /** Packed addresses that were read, some of them twice. */
  readonly size: number
  /**
   * Reads what was packed before the call. `damaged`: packs are missing or contradict each other, so that some addresses may be in none
   * of them: the caller must hold every address in memory.
   */
  refresh(): Promise<'whole' | 'damaged'>
  /**
   * Passes every address that is in no pack; one reading of the store serves all who call at the same time. One that is stored, or packed, during
   * the call may be passed or not.
   */
  everyHot(onKey: (matchKey: string) => void): Promise<void>
  /** Those of these keys that are stored addresses, packed or not. */
  among(matchKeys: readonly string[]): Promise<ReadonlySet<string>>
  /** Every stored address that was not packed before a time, in pages. */
  everyAddress(packedAfter?: Ms): AsyncIterable<string>
}

/** A transfer that a payer wants to make with a wallet. */
export interface WantedTransfer {
  /** The payer's account. */
  readonly from: string
  readonly to: string
  /** The token's contract or mint; null for the native coin. */
  readonly contract: string | null
  readonly amountBase: bigint
  /** 32 bytes as hex that the transaction must include; null for none. */
  readonly reference: string | null
}

/** A prepared transfer that a payer's wallet signed. */
export interface SignedTransfer {
  /** What `prepareTransfer` returned. */
  readonly prepared: string
  /** As the wallet returned it, hex. */
  readonly signature: string
}

/**
 * What became of a signed transfer. `different`: it is another one, or somebody else signed it, and no node was asked. `refused`: a node
 * says that it cannot be carried out. `unsent`: no node could be asked. `unclear`: a node may have it.
 */
export type SendOutcome = 'sent' | 'different' | 'refused' | 'unsent' | 'unclear'

/** The node(s) of one network for the scan loop. All responses are validated; an unclear one throws. */
export interface ChainClient {
  /** True where heights without a block are normal: skipped slots of Solana. */
  readonly hasGaps?: boolean
  /**
   * Checks chain id and every token's `decimals()` against the registry row. Throws `NodeMismatch`. Resolves with the tokens whose
   * contract the node does not have, in test mode alone: on the main network such a node is on another chain, or has no state.
   */
  verify(): Promise<readonly AssetId[]>
  genesisHash(): Promise<string>
  /** `time` of the block, and the whole of it, where the family's head shows them. */
  head(): Promise<{ height: number; hash: string; finalizedHeight: number | null; time?: Ms; block?: BlockRef }>
  /**
   * The head of a node that has the whole chain, as far as nodes show it. Throws `NodeBehind` when none has. Absent for families
   * that do not report how far they are.
   */
  currentHead?(): ReturnType<ChainClient['head']>
  /** Null when the node has no block at that height. */
  blockAt(height: number): Promise<BlockRef | null>
  /**
   * Blocks `from`…`to` in order, each with its matched transfers. Throws rather than omitting anything. May end before
   * `to` where the next block must be read in another way: the caller continues from there. With gaps: those that exist,
   * and if there are none, the first one above `to` up to the head; never empty while the head is above `from`. Throws
   * `BlockUnreadable` when one block fails in every way.
   */
  scan(
    from: number,
    to: number,
    watches: WatchIndex,
    outpoints?: ReadonlySet<string>,
    accounts?: Pick<ReadonlySet<string>, 'has'>,
  ): Promise<readonly ScannedBlock[]>
  /** Absent for families whose blocks can only be read whole. */
  readonly accounts?: AccountReader
  /**
   * A transfer that a payer's wallet can sign, without a signature: base64 (Solana) or JSON (TRON). Nothing is sent or reserved. Absent for
   * families whose wallets build transactions themselves. Throws `NodeUnreliable`, and a RangeError for an invalid account or amount.
   */
  prepareTransfer?(transfer: WantedTransfer): Promise<string>
  /**
   * Hands exactly this transfer, signed by its payer, to the network. Safe to repeat: the same transfer counts once. Absent for families whose
   * wallets send.
   */
  sendTransfer?(transfer: WantedTransfer, signed: SignedTransfer): Promise<SendOutcome>
  /** Absent where transactions and logs show every transfer. */
  readonly balances?: BalanceLedger
  /** The whole mempool, for chains whose unconfirmed transactions are visible. */
  mempool?(watches: WatchIndex, outpoints: ReadonlySet<string>): Promise<MempoolView>
  /**
   * Those of these transactions that a node of the network has in its mempool, or may have because it is still loading its own
   * or is isolated. Absent where there is no mempool. Throws `NodeUnreliable` when no node responds.
   */
  heldUnconfirmed?(txids: readonly string[]): Promise<ReadonlySet<string>>
  /**
   * Those of these transactions, by their `txHash`, that no second node shows, successful, in the same block; the node that
   * returned the block does not count. Empty when there is no second node; throws `NodeUnreliable` when there is
   * one and it does not respond.
   */
  disputed?(transactions: readonly SeenTransaction[]): Promise<ReadonlySet<string>>
  /** Which nodes are down or stand still; absent where there is one node. */
  silence?(): Silence
  /**
   * Whether a scanned block that the node in use no longer has is gone for the network's other nodes as well. `gone` where
   * there are none. Absent where there can be none.
   */
  voteOnFork?(block: { readonly height: number; readonly hash: string }): Promise<ForkVerdict>
  /**
   * Position of a transaction: `unconfirmed` in no block yet, `not_searchable` when the node cannot look up single
   * transactions, null when it has none. For display, never for crediting.
   */
  locate?(txHash: string): Promise<TransactionPlace | 'unconfirmed' | 'not_searchable' | null>
  /**
   * Match keys of those addresses that were used before, as far as a node shows it. Throws `NodeUnreliable` when it does not
   * have the whole chain yet or its response is unclear: an omitted address was checked and shows no use. Absent for
   * families whose nodes cannot search. May take minutes.
   */
  used?(addresses: readonly { readonly address: string; readonly matchKey: string }[]): Promise<ReadonlySet<string>>
  /**
   * What blocks `from`…`to` paid to these match keys and is still unspent, by block: for blocks that cannot be read any more. Dust, and transactions
   * with more than 16 outputs to one of them, are left out, because a block would show these under other keys. Absent for families whose nodes
   * cannot search. May take minutes. Throws `NodeUnreliable`.
   */
  unspent?(
    matchKeys: readonly string[],
    blocks: { readonly from: number; readonly to: number },
  ): Promise<readonly ScannedBlock[]>
  /**
   * Requests once what the work needs of a node of this family beside its blocks, and returns what was not served. Throws
   * `NodeUnreliable` when no node responds. Absent where blocks are all that is needed.
   */
  probe?(): Promise<readonly Shortcoming[]>
  /** Balances and fees for people; absent on clients that only scan. */
  readonly funds?: FundsReader
}

/** Nodes that cannot confirm anything now. */
export interface Silence {
  /** Hosts of nodes that failed several times in a row, without a success since. */
  readonly hosts: readonly string[]
  /** Hosts of nodes whose last request failed, and of those that asked for a pause: what they have is not known. */
  readonly failing: readonly string[]
  /** Nodes that respond with an old block, as their newest or their final one, while others go on. */
  readonly outdated: readonly OutdatedNode[]
  /** Nodes that have another block than the node in use so far below the head that no reorganisation explains it, where neither side is the majority. */
  readonly differing: readonly Omit<OutdatedNode, 'block'>[]
  /** Number of nodes on our chain that respond with current blocks. */
  readonly answering: number
  /** Hosts of nodes that gave no answer for ten minutes, so that what the others do not have counts as nowhere until they answer again. */
  readonly unheard: readonly string[]
}

/** A node whose answers stand still. */
export interface OutdatedNode {
  readonly host: string
  readonly block: 'newest' | 'final'
  readonly height: number
}

/** A transaction in the block that it was scanned in. */
export interface SeenTransaction {
  readonly txHash: string
  readonly height: number
  readonly blockHash: string
  /** Its transfer as scanned: a confirming node must show the same, where the network's nodes can. */
  readonly transfer?: Pick<RawTransfer, 'key' | 'matchKey' | 'contract' | 'amountBase'>
}

/**
 * Combined result of a network's nodes about a scanned block: it is gone from the chain; it is still there, and
 * nodes that reported otherwise are left out; or they disagree (yet), so nothing may be concluded.
 */
export type ForkVerdict = 'gone' | 'kept' | 'disputed'

/** Balances by match key. */
export interface CoinBalances extends ReadonlyMap<string, bigint> {
  /** Accounts that have code: coins may have come and gone since any earlier block, even where their balance is the same. */
  readonly withCode: ReadonlySet<string>
}

/** Balances of the native coin, where contracts may pay it without a transaction or log that shows it. */
export interface BalanceLedger {
  /** The native coin. */
  readonly asset: AssetId
  /** The address of a match key in its canonical spelling. */
  addressOf(matchKey: string): string
  /**
   * Balances at the end of a block, one for each match key; null where no node has the state of that block any more. Throws `NodeUnreliable`
   * when no node answers, or those that do refuse.
   */
  read(
    matchKeys: readonly string[],
    block: { readonly height: number; readonly hash: string; readonly time?: number },
  ): Promise<CoinBalances | null>
  /**
   * What other nodes return now for the readings of these increases, by `key`; without those that no other node answers for. Asked while the
   * state is there: some networks confirm after nodes have dropped it. Never throws because of a node.
   */
  second(increases: readonly SeenIncrease[]): Promise<ReadonlyMap<string, SecondFigures>>
  /**
   * Those of these increases, by `key`, that a second node contradicts. With `same` second figures it need only have the block. Otherwise its
   * readings are compared; one that has dropped the state contradicts nothing unless the second figures were other ones. Empty when there is no second node; throws `NodeUnreliable` when there is one and it does not respond.
   */
  disputed(increases: readonly SeenIncrease[]): Promise<ReadonlySet<string>>
}

/** An increase of one account's balance and its block. */
export interface SeenIncrease extends BalanceIncrease {
  readonly key: string
  readonly matchKey: string
  readonly amountBase: bigint
  readonly height: number
  readonly hash: string
}

/** Position of a transaction according to a node. */
export interface TransactionPlace {
  readonly height: number
  readonly blockHash: string
  /** False when it was mined and failed: it moved nothing. */
  readonly succeeded: boolean
}

/** The node is on another chain or a token has other decimals than our row: it must not be scanned. */
export class NodeMismatch extends Error {
  override readonly name = 'NodeMismatch'
}

/** The node's response is missing, contradictory or malformed: retry, the cursor stays. */
export class NodeUnreliable extends Error {
  override readonly name: string = 'NodeUnreliable'
  /** The failed call, if a single one is the cause: RPC method or HTTP path, and the host. */
  readonly call: { readonly method: string; readonly host: string } | null = null
  /** The node gave no response at all: it refused the connection, or let the time pass. */
  readonly isSilent: boolean = false
  /** There was no connection to the node at all, so nothing is known about what was asked: it refused it, or its host cannot be found. */
  readonly isAway: boolean = false
  /** The node says that it has dropped this. That it refuses something, for a plan or a bill, says nothing about it. */
  readonly isGone: boolean = false
}

/** No node is current: it still downloads its chain, or has no peers. The message contains how far it is. */
export class NodeBehind extends NodeUnreliable {}

/** Which block could not be read, with which call, and why: the information that an operator needs. */
export interface UnreadableBlock {
  readonly height: number
  /** Null when the failure happened before the hash was known. */
  readonly hash: string | null
  /** RPC method (or HTTP path) that failed, as the node spells it: `eth_getBlockByNumber`, `eth_getLogs`. */
  readonly method: string
  /** One sentence about the failure. Names hosts, never paths, queries or credentials of a URL. */
  readonly reason: string
}

/** One block could not be read in any way that this family supports. The cursor stays before it. */
export class BlockUnreadable extends NodeUnreliable {
  override readonly name = 'BlockUnreadable'
  readonly block: UnreadableBlock
  override readonly isGone: boolean
  override readonly isAway: boolean

  constructor(block: UnreadableBlock, cause?: unknown) {
    super(
      `block ${block.height} cannot be read: ${block.method}: ${block.reason}`,
      cause === undefined ? undefined : { cause },
    )
    this.block = block
    this.isGone = cause instanceof NodeUnreliable && cause.isGone
    this.isAway = cause instanceof NodeUnreliable && cause.isAway
  }
}
