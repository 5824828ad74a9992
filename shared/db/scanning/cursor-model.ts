import { COUNT, DATE, defineCollection, optional, TEXT } from '#shared/db/connection/collection-model.ts'
import type { ChainCursor, DeadlineRelease, ScanTrouble } from '#shared/ports/scanning.ts'

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

/** Why the next block cannot be read, as it is stored. */
export type StoredTrouble = Omit<ScanTrouble, 'firstAt' | 'lastAt'> & { firstAt: Date; lastAt: Date }

/** A release of deadlines, as it is stored. */
export type StoredRelease = Omit<DeadlineRelease, 'through' | 'at'> & { through: Date; at: Date }

/** A stored chain cursor. The lease's epoch outlives the lease, because it must never fall. */
export type CursorDocument = Omit<ChainCursor, 'id' | Stored> & {
  _id: string
  time: Date
  headSeenAt: Date
  mempoolAt?: Date
  advancedAt?: Date
  atHeadAt?: Date
  trouble?: StoredTrouble | null
  released?: StoredRelease | null
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
    leaseEpoch: COUNT,
  },
  [],
)
