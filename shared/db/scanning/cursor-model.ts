import { COUNT, DATE, defineCollection, optional, TEXT } from '#shared/db/connection/collection-model.ts'
import type { AssetId } from '#shared/domain/enumerations.ts'
import type { ChainCursor, DeadlineRelease, LookPlace, ScanTrouble } from '#shared/ports/cursors.ts'

/** Fields whose stored form differs. */
type Stored =
  | 'time'
  | 'headSeenAt'
  | 'mempoolAt'
  | 'advancedAt'
  | 'atHeadAt'
  | 'trouble'
  | 'released'
  | 'lease'
  | 'window'
  | 'missingTokens'
  | 'looks'
  | 'headTime'

/** Why the next block cannot be read, as stored. */
export type StoredTrouble = Omit<ScanTrouble, 'firstAt' | 'lastAt'> & { firstAt: Date; lastAt: Date }

/** A release of deadlines, as stored. */
export type StoredRelease = Omit<DeadlineRelease, 'through' | 'at'> & { through: Date; at: Date }

/** Positions of the looks at balances, as stored. */
export interface StoredLooks {
  ended: StoredLook
  all: StoredLook
}
export type StoredLook = Omit<LookPlace, 'time' | 'at'> & { time: Date; at: Date }

/** A stored chain cursor. The lease's epoch outlives the lease, because it must never decrease. */
export type CursorDocument = Omit<ChainCursor, 'id' | Stored> & {
  _id: string
  time: Date
  headSeenAt: Date
  mempoolAt?: Date
  advancedAt?: Date
  atHeadAt?: Date
  trouble?: StoredTrouble | null
  released?: StoredRelease | null
  missingTokens?: AssetId[]
  looks?: StoredLooks | null
  headTime?: Date
  window: [number, string][]
  lease: { owner: string; until: Date } | null
  leaseEpoch: number
}

/** The chain_cursors collection: one document per mode and network, read by `_id`. */
export const CHAIN_CURSORS = defineCollection<CursorDocument>(
  'chain_cursors',
  {
    _id: TEXT,
    mode: TEXT,
    network: TEXT,
    height: COUNT,
    hash: String,
    time: DATE,
    window: { type: [[Object]], required: true },
    headHeight: COUNT,
    headSeenAt: DATE,
    finalizedHeight: optional(Number),
    mempoolAt: optional(Date),
    status: { type: String, enum: ['live', 'catchup', 'halted'], required: true },
    haltReason: optional(String),
    waitReason: optional(String),
    genesisHash: String,
    recheckThrough: optional(Number),
    lastCommand: optional(String),
    lease: optional(Object),
    trouble: optional(Object),
    advancedAt: optional(Date),
    atHeadAt: optional(Date),
    released: optional(Object),
    missingTokens: optional([String]),
    source: optional(String),
    looks: optional(Object),
    headTime: optional(Date),
    leaseEpoch: COUNT,
  },
  [],
)
