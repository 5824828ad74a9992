import type mongoose from 'mongoose'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate, toMs } from '#shared/db/connection/dates.ts'
import { bulkDuplicates } from '#shared/db/connection/duplicate-key.ts'
import { isAny } from '#shared/db/connection/is-any.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { RollupSlot } from '#shared/ports/rollups.ts'
import { DELIVERY_ROLLUPS, INVOICE_ROLLUPS, type RollupFields } from './rollup-models.ts'

export const QUARTER_MS = 900_000
export const HOUR_MS = 4 * QUARTER_MS

/** The time between two counts of one slot: at least this long, */
const PAUSE_MIN_MS = 5_000
/** longer the more documents were counted, so that no slot makes the store read more than some 300 a second, */
const PAUSE_PER_DOCUMENT_MS = 3
/** and longer the older the slot is, up to a quarter of an hour. */
const PAUSE_AGE_DIVISOR = 16
const PAUSE_OF_AGE_MAX_MS = 900_000

/** A row that is to be counted, as it was before the count began. */
export interface DueSlot {
  readonly slot: RollupSlot
  readonly marks: number
}

/** What a count found. */
export interface SlotCount {
  /** The fields of the row that hold the figures. */
  readonly figures: Readonly<Record<string, unknown>>
  /** Documents that were counted. */
  readonly documents: number
}

/** The slot in which a time lies. */
export function slotAt(of: RollupSlot['of'], ownerId: string, mode: RollupSlot['mode'], time: Ms): RollupSlot {
  const length = lengthOf(of)
  return { of, ownerId, mode, at: Math.floor(time / length) * length }
}

export const lengthOf = (of: RollupSlot['of']): Ms => (of === 'invoices' ? HOUR_MS : QUARTER_MS)
export const slotId = ({ ownerId, mode, at }: RollupSlot): string => `${ownerId}:${mode}:${new Date(at).toISOString()}`

/** The rows of both collections as things that are marked, counted and stored. */
export interface RollupRows {
  /** Marks slots as changed: each is due once the pause since its last count is over. */
  mark(slots: readonly RollupSlot[], now: Ms): Promise<void>
  /** Whether a slot is due. */
  isAnyDue(now: Ms): Promise<boolean>
  /** Oldest mark first. */
  due(of: RollupSlot['of'], now: Ms, limit: number): Promise<readonly DueSlot[]>
  /** Stores a count unless the slot was marked after the count began. Returns whether it is stored. */
  store(due: DueSlot, count: SlotCount, now: Ms): Promise<boolean>
  /** Rows of these slots, in any order. A slot without a row is left out. */
  find(slots: readonly RollupSlot[]): Promise<readonly { readonly due: DueSlot; readonly row: RollupFields }[]>
}

type Owned = RollupFields & { workspaceId?: string; endpointId?: string }

/** The rows on MongoDB. */
export function createRollupRows(db: Database): RollupRows {
  const collections = {
    invoices: db.collection(INVOICE_ROLLUPS) as unknown as mongoose.mongo.Collection<Owned>,
    deliveries: db.collection(DELIVERY_ROLLUPS) as unknown as mongoose.mongo.Collection<Owned>,
  }
  return {
    mark: async (slots, now) => {
      for (const of of ['invoices', 'deliveries'] as const) {
        const unique = new Map(slots.filter((slot) => slot.of === of).map((slot) => [slotId(slot), slot]))
        if (unique.size > 0) await markAll(collections[of], [...unique.values()], now)
      }
    },
    isAnyDue: async (now) => {
      const due = await Promise.all([
        isAny(db, { of: INVOICE_ROLLUPS, filter: dueBy(now) }),
        isAny(db, { of: DELIVERY_ROLLUPS, filter: dueBy(now) }),
      ])
      return due.includes(true)
    },
    due: async (of, now, limit) => {
      const found = await collections[of]
        .find(dueBy(now), { projection: { whole: 0, quarters: 0, figures: 0 } })
        .sort({ dueAt: 1 })
        .limit(limit)
        .toArray()
      return found.map((row) => dueOf(of, row))
    },
    store: async ({ slot, marks }, { figures, documents }, now) => {
      const age = Math.max(0, now - slot.at - lengthOf(slot.of))
      const pauseMs = Math.max(
        PAUSE_MIN_MS,
        documents * PAUSE_PER_DOCUMENT_MS,
        Math.min(age / PAUSE_AGE_DIVISOR, PAUSE_OF_AGE_MAX_MS),
      )
      const change = { $set: { ...figures, notBefore: toDate(now + pauseMs) }, $unset: { dueAt: '' as const } }
      return (await collections[slot.of].updateOne({ _id: slotId(slot), marks }, change)).matchedCount === 1
    },
    find: async (slots) => {
      const rows = await Promise.all(
        (['invoices', 'deliveries'] as const).map(async (of) => {
          const ids = slots.filter((slot) => slot.of === of).map(slotId)
          const found = ids.length === 0 ? [] : await collections[of].find({ _id: { $in: ids } }).toArray()
          return found.map((row) => ({ due: dueOf(of, row), row }))
        }),
      )
      return rows.flat()
    },
  }
}

const dueBy = (now: Ms) => ({ dueAt: { $lte: toDate(now) } })

const dueOf = (of: RollupSlot['of'], { workspaceId, endpointId, mode, at, marks }: Owned): DueSlot => {
  return { slot: { of, ownerId: workspaceId ?? endpointId ?? '', mode, at: toMs(at) }, marks }
}

const TRIES = 5

async function markAll(
  rows: mongoose.mongo.Collection<Owned>,
  slots: readonly RollupSlot[],
  now: Ms,
  triesLeft = TRIES,
): Promise<void> {
  try {
    await rows.bulkWrite(slots.map(markOf(now)), { ordered: false })
  } catch (error) {
    // Two processes make the same row at once: the loser marks the row that is there now.
    const places = bulkDuplicates(error)
    if (places === null || triesLeft === 0) throw error
    const lost = places.flatMap((place) => slots[place] ?? [])
    await markAll(rows, lost, now, triesLeft - 1)
  }
}

const markOf = (now: Ms) => (slot: RollupSlot) => {
  const owner = slot.of === 'invoices' ? 'workspaceId' : 'endpointId'
  const change = {
    [owner]: { $literal: slot.ownerId },
    mode: slot.mode,
    at: toDate(slot.at),
    marks: { $add: [{ $ifNull: ['$marks', 0] }, 1] },
    dueAt: { $ifNull: ['$dueAt', { $max: [toDate(now), '$notBefore'] }] },
  }
  return { updateOne: { filter: { _id: slotId(slot) }, update: [{ $set: change }], upsert: true } }
}
