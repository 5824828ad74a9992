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
