import type { ChainCursor } from '#shared/db/scanning/cursor-model.ts'
import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { AuditRecord } from './audit.ts'

export type { ChainCursor } from '#shared/db/scanning/cursor-model.ts'

/** `full`: every block is read. `thrifty`: those that open invoices need. */
export type ScanMode = NonNullable<ChainCursor['source']>
/** Positions of the looks at balances: of addresses whose invoice ended in the last day, and of all addresses. */
export type Looks = NonNullable<ChainCursor['looks']>
/** A block up to which balances were compared, and when that was done. */
export type LookPlace = Looks['all']
/** Why a scan cannot pass a block, from the first failure in a row to the last recorded one. */
export type ScanTrouble = NonNullable<ChainCursor['trouble']>
/** An operator's release: deadlines of a stuck network take effect although its blocks were not read. */
export type DeadlineRelease = NonNullable<ChainCursor['released']>

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
