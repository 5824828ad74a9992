import { z } from 'zod'
import { scanTrouble } from '#shared/contracts/chain-status.ts'
import { defineCollection, type RecordOf, type StoredOf } from '#shared/db/connection/collection-model.ts'
import { TIME, textAs } from '#shared/db/connection/stored-fields.ts'
import { type AssetId, MODES, type NetworkId } from '#shared/domain/enumerations.ts'

const TROUBLE = scanTrouble.extend({ firstAt: TIME, lastAt: TIME })

/** An operator's release: deadlines of a stuck network take effect although its blocks were not read. */
const RELEASE = z.object({
  /** Deadlines up to this moment take effect. Never later than `at`. */
  through: TIME,
  /** Hash of the cursor at the release: it ends when the cursor moves. Empty for a release of skipped blocks, which does not. */
  hash: z.string(),
  /** The cursor's `unproven` at the release. While the cursor has it, deadlines in blocks that were read take effect without a proof, wherever it is. */
  unproven: TIME.exactOptional(),
  by: z.string(),
  at: TIME,
  /** Id of the operator's request, so that a repetition is recognised. */
  opId: z.string(),
})

/** Blocks that an operator skipped because no node had them any more. */
const SKIPPED = z.object({
  from: z.number(),
  to: z.number(),
  /** Time of the last block that was read before them: deadlines from here on wait until a person releases them. */
  since: TIME,
  /** Time of the first block after them. */
  until: TIME,
  at: TIME,
  by: z.string(),
  /** The request that skipped them, the last one where several did: it is carried out, and its search goes on, whatever moves the cursor. */
  command: z.string().exactOptional(),
})

/** A block up to which balances were compared, and when that was done. */
const LOOK_PLACE = z.object({
  height: z.number(),
  hash: z.string(),
  /** Time of the block. */
  time: TIME,
  at: TIME,
  /** Blocks before it were read in full because no node had their balances: the look's end is compared with all that was ever paid. */
  uncompared: z.literal(true).exactOptional(),
})

/** See `ChainMeasurements`; moments are numbers here, because they are figures to reckon with. */
const MEASURED = z.object({
  marks: z.array(z.tuple([z.number(), z.number()])),
  finality: z.array(z.tuple([z.number(), z.number()])),
  reorg: z.object({ depth: z.number(), at: z.number() }).nullable(),
})

/** The chain_cursors collection: one document per mode and network, read by `_id`, which is `<mode>:<network>`. */
export const CHAIN_CURSORS = defineCollection(
  'chain_cursors',
  {
    _id: z.string(),
    mode: z.enum(MODES),
    network: textAs<NetworkId>(),
    /** Last block whose transfers are all stored. −1 before the first. */
    height: z.number(),
    hash: z.string(),
    /** Time of that block. */
    time: TIME,
    /** Recent (height, hash) pairs, newest last; dense, then sparse back to finality. */
    window: z.array(z.tuple([z.number(), z.string()])),
    headHeight: z.number(),
    headSeenAt: TIME,
    finalizedHeight: z.number().nullable(),
    /** When the whole mempool was last read with the head scanned; absent where it is not visible. */
    mempoolAt: TIME.exactOptional(),
    status: z.enum(['live', 'catchup', 'halted']),
    haltReason: z.string().nullable(),
    /** Why the scanner waits although it is not halted, as text; null or absent when it does not. */
    waitReason: z.string().nullable().exactOptional(),
    /** Hash of block 0, to detect another chain behind the same URL. */
    genesisHash: z.string(),
    /** Up to this height the scan also orphans confirmed payments whose block is gone: an operator or a fork moved the cursor back. */
    recheckThrough: z.number().nullable().exactOptional(),
    /** The operator's request that moved the cursor last, so that it does not run twice. */
    lastCommand: z.string().nullable().exactOptional(),
    lease: z.object({ owner: z.string(), until: TIME }).nullable(),
    /** Why the next block cannot be read; null or absent since the cursor advanced or was at its node's head. */
    trouble: TROUBLE.nullable().exactOptional(),
    /** When the cursor was created, or last moved to another block. */
    advancedAt: TIME.exactOptional(),
    /** When the node's head was last the cursor's own block; absent where unconfirmed transactions are visible. */
    atHeadAt: TIME.exactOptional(),
    /** The last release of deadlines by an operator. It counts only while `hash` or `unproven` is the cursor's. */
    released: RELEASE.nullable().exactOptional(),
    /** Skipped blocks whose deadlines were not released yet; null or absent when there are none. */
    skipped: SKIPPED.nullable().exactOptional(),
    /** Tokens whose contract the node did not have when the scanner looked last; test mode only. Absent and empty mean none. */
    missingTokens: z.array(textAs<AssetId>()).exactOptional(),
    /**
     * How the blocks after here are read: `full`: every block; `thrifty`: those that open invoices need. Absent before the first session, as
     * `full`.
     */
    source: z.enum(['full', 'thrifty']).exactOptional(),
    /** Every block above this height was read; null or absent where `source` is not `full`. */
    fullAbove: z.number().nullable().exactOptional(),
    /**
     * How far addresses without an open invoice were looked at: those whose invoice ended in the last day, those in memory, those that left it in
     * the last year, and every one. Absent where balances cannot be read.
     */
    looks: z
      .object({ ended: LOOK_PLACE, all: LOOK_PLACE, week: LOOK_PLACE, month: LOOK_PLACE })
      .nullable()
      .exactOptional(),
    /**
     * Deadlines from here on wait although their blocks were read: whether everything that came in before the first of them is stored has
     * not been proven yet. Null or absent: none waits. Thrifty scanning only.
     */
    unproven: TIME.nullable().exactOptional(),
    /** Time of the node's head as last seen; thrifty scanning only. */
    headTime: TIME.exactOptional(),
    /** While the cursor is at this block: each account with a check of this `run` has what it had at its last one, because only changes are stored. */
    compared: z.object({ run: z.string(), height: z.number(), hash: z.string() }).exactOptional(),
    /** Pace, finality and reorganisations of the chain as this scan saw them. Absent until the cursor moved for the first time. */
    measured: MEASURED.exactOptional(),
    /** It outlives the lease, because it must never decrease. */
    leaseEpoch: z.number(),
  },
  [],
)

/** A stored chain cursor. */
export type CursorDocument = StoredOf<typeof CHAIN_CURSORS>

type CursorRecord = RecordOf<typeof CHAIN_CURSORS>

/** Position of a scanner on one network in one mode. The lease of a cursor has its epoch. */
export type ChainCursor = Omit<CursorRecord, 'lease' | 'leaseEpoch'> & {
  readonly lease: (NonNullable<CursorRecord['lease']> & { readonly epoch: number }) | null
}

/** A whole cursor as stored. */
export function cursorToDocument({ lease, ...cursor }: ChainCursor): CursorDocument {
  const { epoch = 0, ...held } = lease ?? {}
  return CHAIN_CURSORS.toDocument({ ...cursor, lease: lease === null ? null : held, leaseEpoch: epoch } as CursorRecord)
}

/** A stored cursor with the epoch of its lease. */
export function cursorFromDocument(stored: CursorDocument): ChainCursor {
  const { leaseEpoch, ...cursor } = CHAIN_CURSORS.toRecord(stored)
  return { ...cursor, lease: cursor.lease === null ? null : { ...cursor.lease, epoch: leaseEpoch } }
}
