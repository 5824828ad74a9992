import type { ChainCursor } from '#shared/usecases/ports/scanning.ts'
import { COUNT, DATE, defineCollection, optional, TEXT } from './collection-model.ts'

/** A stored chain cursor. The lease's epoch outlives the lease, because it must never fall. */
export type CursorDocument = Omit<ChainCursor, 'id' | 'time' | 'headSeenAt' | 'mempoolAt' | 'lease' | 'window'> & {
  _id: string
  time: Date
  headSeenAt: Date
  mempoolAt?: Date
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
    leaseEpoch: COUNT,
  },
  [],
)
