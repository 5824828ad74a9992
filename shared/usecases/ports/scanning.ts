import type { AssetId, Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'

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
  readonly status: 'live' | 'catchup' | 'halted'
  readonly haltReason: string | null
  /** Hash of block 0, to notice another chain behind the same URL. */
  readonly genesisHash: string
  readonly lease: { readonly owner: string; readonly epoch: number; readonly until: Ms } | null
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
    next: Partial<Omit<ChainCursor, 'id' | 'mode' | 'network' | 'lease'>>,
  ): Promise<boolean>
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
}

export interface ScannedBlock extends BlockRef {
  /** Only transfers to watched addresses. */
  readonly transfers: readonly RawTransfer[]
}

/** Exact membership of receiving addresses; the scanner's question per transfer. */
export interface WatchIndex {
  has(matchKey: string): boolean
  add(matchKey: string): void
  readonly size: number
}

/** One network's node(s) as the scan loop sees them. All answers are validated; a doubtful one throws. */
export interface ChainClient {
  /** Checks chain id and every token's `decimals()` against the registry row. Throws `NodeMismatch`. */
  verify(): Promise<void>
  genesisHash(): Promise<string>
  head(): Promise<{ height: number; hash: string; finalizedHeight: number | null }>
  /** Null when the node has no block at that height. */
  blockAt(height: number): Promise<BlockRef | null>
  /** Blocks `from`…`to` in order, each with its matched transfers. Throws rather than leaving anything out. */
  scan(from: number, to: number, watches: WatchIndex): Promise<readonly ScannedBlock[]>
}

/** The node is on another chain or a token has other decimals than our row: never scan it. */
export class NodeMismatch extends Error {
  override readonly name = 'NodeMismatch'
}

/** The node's answer is missing, contradictory or malformed: try again, the cursor stays. */
export class NodeUnreliable extends Error {
  override readonly name = 'NodeUnreliable'
}
