import type { Family, Mode } from '#shared/domain/enumerations.ts'

/** Hashes in a full pack: 512 KiB. */
export const PACK_HASHES = 65_536
/** Bytes of a hash of a match key. */
export const HASH_BYTES = 8
/** Bytes of the key under which an installation's match keys are hashed. */
export const SALT_BYTES = 8

/** Hashes of the match keys of cold addresses, in the order in which they were added. A pack only grows, and only the last one does. */
export interface WatchPack {
  /** Position among the packs of its mode and family, from 0. */
  readonly seq: number
  readonly count: number
  /** The same in all packs of a mode and family. */
  readonly salt: Uint8Array
  /** `count` hashes of `HASH_BYTES`. */
  readonly hashes: Uint8Array
}

/** A pack without its hashes. */
export type WatchPackHead = Omit<WatchPack, 'hashes' | 'salt'>

/** The packs of cold addresses. */
export interface WatchPackRepository {
  /** Packs from a position on, in order, without their hashes. */
  heads(mode: Mode, family: Family, fromSeq: number): Promise<readonly WatchPackHead[]>
  /** Null when there is none at this position. */
  read(mode: Mode, family: Family, seq: number): Promise<WatchPack | null>
  /** The last pack; null before the first. */
  last(mode: Mode, family: Family): Promise<WatchPack | null>
  /** How many packs there must be at least: fewer were lost. */
  expected(mode: Mode, family: Family): Promise<number>
  /**
   * Stores a pack that begins with what is stored at its position, `storedCount` hashes, 0 where there is none. False, and nothing changed,
   * when another process was faster. Durable on a majority when it resolves.
   */
  put(mode: Mode, family: Family, pack: WatchPack, storedCount: number): Promise<boolean>
}
