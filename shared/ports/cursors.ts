import type { AssetId, Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { AuditRecord } from './audit.ts'

/** Position of a scanner on one network in one mode. `_id` = `<mode>:<network>`. */
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
  /** When the whole mempool was last read with the head scanned; absent where it is not visible. */
  readonly mempoolAt?: Ms
  readonly status: 'live' | 'catchup' | 'halted'
  readonly haltReason: string | null
  /** Why the scanner waits although it is not halted, as text; null or absent when it does not. */
  readonly waitReason?: string | null
  /** Hash of block 0, to detect another chain behind the same URL. */
  readonly genesisHash: string
  /** Up to this height the scan also orphans confirmed payments whose block is gone: an operator or a fork moved the cursor back. */
  readonly recheckThrough?: number | null
  /** The operator's request that moved the cursor last, so that it does not run twice. */
  readonly lastCommand?: string | null
  readonly lease: { readonly owner: string; readonly epoch: number; readonly until: Ms } | null
  /** Why the next block cannot be read; null or absent since the cursor advanced or was at its node's head. */
  readonly trouble?: ScanTrouble | null
  /** When the cursor last moved to another block. Absent on cursors of older releases. */
  readonly advancedAt?: Ms
  /** When the node's head was last the cursor's own block; absent where unconfirmed transactions are visible. */
  readonly atHeadAt?: Ms
  /** Tokens whose contract the node did not have when the scanner looked last; test mode only. Absent and empty mean none. */
  readonly missingTokens?: readonly AssetId[]
  /** How the blocks up to here were read, and those after are: absent on cursors of older releases, which read every block. */
  readonly source?: ScanMode
  /** How far addresses without an open invoice were looked for; present when and only when `source` is `thrifty`. */
  readonly looks?: Looks | null
  /** Time of the node's head as last seen; thrifty scanning only. */
  readonly headTime?: Ms
  /** The last release of deadlines by an operator. It counts only while `hash` is the cursor's hash. */
  readonly released?: DeadlineRelease | null
}

/** `full`: every block is read. `thrifty`: those that open invoices need. */
export type ScanMode = 'full' | 'thrifty'

/** A block up to which balances were compared, and when that was done. */
export interface LookPlace {
  readonly height: number
  readonly hash: string
  /** Time of the block. */
  readonly time: Ms
  readonly at: Ms
}

/** Positions of the looks at balances: of addresses whose invoice ended in the last day, and of all addresses. */
export interface Looks {
  readonly ended: LookPlace
  readonly all: LookPlace
}

/** Why a scan cannot pass a block, from the first failure in a row to the last recorded one. */
export interface ScanTrouble {
  /** `node`: a response is missing or wrong; `mismatch`: the node is rejected; `other`: our own code or store failed. */
  readonly kind: 'node' | 'mismatch' | 'other'
  /** The block that cannot be read; no block above it is read either. */
  readonly height: number
  readonly hash: string | null
  /** RPC method or HTTP path; null where no single call is the cause. */
  readonly method: string | null
  /** One sentence. Names hosts, never paths, queries or credentials of a URL; at most 300 printable characters. */
  readonly reason: string
  /** Host of the last node used; null when unknown. */
  readonly host: string | null
  readonly firstAt: Ms
  readonly lastAt: Ms
  /** Failures in a row, at least: not each one is recorded. */
  readonly tries: number
}

/** An operator's release: deadlines of a stuck network take effect although its blocks were not read. */
export interface DeadlineRelease {
  /** Deadlines up to this moment take effect. Never later than `at`. */
  readonly through: Ms
  /** Hash of the cursor at the release: it ends when the cursor moves. */
  readonly hash: string
  readonly by: string
  readonly at: Ms
  /** Id of the operator's request, so that a repetition is recognised. */
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
