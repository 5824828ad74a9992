import type { Database } from '#shared/db/connection/connect.ts'
import { INSTALLATION } from '#shared/db/installation/installation-model.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { WalkName } from './rollup-walks.ts'

/** Name of the fact that holds through which times changes were marked. A restore leaves it out: figures are counted again. */
export const ROLLUPS_FACT = 'rollups'
const CHECKED_FACT = 'rollups-checked'

/** Through which time each walk has marked everything, and when all that was marked had been counted. */
export type RollupPosition = Readonly<Record<WalkName, Ms>> & { readonly asOf: Ms | null }

/** The stored position; null when nothing was ever counted. */
export async function readPosition(db: Database): Promise<RollupPosition | null> {
  const fact = await db.collection(INSTALLATION).findOne({ _id: ROLLUPS_FACT })
  return fact === null ? null : (JSON.parse(fact.value) as RollupPosition)
}

/** Of two processes the later one stands. Both positions are true, and an earlier one only makes somebody walk more. */
export const savePosition = (db: Database, position: RollupPosition): Promise<void> =>
  saveFact(db, ROLLUPS_FACT, JSON.stringify(position))

/** Up to which creation the invoices were compared with the figures; null at the first time. */
export async function readChecked(db: Database): Promise<Ms | null> {
  const fact = await db.collection(INSTALLATION).findOne({ _id: CHECKED_FACT })
  return fact === null ? null : Number(fact.value)
}

export const saveChecked = (db: Database, through: Ms): Promise<void> => saveFact(db, CHECKED_FACT, String(through))

/** Makes the next round count everything again, for whoever wrote invoices of earlier days past every version of the code. */
export async function forgetPosition(db: Database): Promise<void> {
  await db.collection(INSTALLATION).deleteOne({ _id: ROLLUPS_FACT })
}

async function saveFact(db: Database, _id: string, value: string): Promise<void> {
  const change = { $set: { value }, $currentDate: { changedAt: true as const } }
  await db.collection(INSTALLATION).updateOne({ _id }, change, { upsert: true })
}
