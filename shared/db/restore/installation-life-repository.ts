import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { AuditRecord } from '#shared/db/audit/audit-model.ts'
import { audited } from '#shared/db/audit/audited.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { jsonFact, writeFact } from '#shared/db/installation/facts.ts'
import { INSTALLATION } from '#shared/db/installation/installation-model.ts'
import type { InstallationLife, LostWallets } from '#shared/ports/marks.ts'

/** Name of the installation's own id among its facts. */
export const INSTALLATION_ID_FACT = 'id'
/** Name of the fact that holds the life of this database and its beat. */
export const LIFE_FACT = 'life'

/** Shape of the fact. */
export const lifeSchema = z.object({ life: z.string(), beat: z.number().int() })

/** The fact about wallets that a store which went back may lack; its latest loss counts. */
export const LOST_WALLETS = jsonFact<LostWallets>(
  'lost-wallets',
  z.object({ firstFree: z.number().int(), until: z.number() }),
)

const lifeText = (life: string, beat: number): string => JSON.stringify({ life, beat })

/** Installation and life on MongoDB: two facts, made when they are first read. */
export function createInstallationLifeRepository(db: Database) {
  const facts = db.collection(INSTALLATION)

  const find = async (): Promise<InstallationLife | null> => {
    const found = await facts.find({ _id: { $in: [INSTALLATION_ID_FACT, LIFE_FACT] } }).toArray()
    const factOf = (name: string) => found.find(({ _id }) => _id === name)?.value
    const [installation, life] = [factOf(INSTALLATION_ID_FACT), factOf(LIFE_FACT)]
    if (installation === undefined || life === undefined) return null
    return { installation, ...lifeSchema.parse(JSON.parse(life)) }
  }
  const create = async (): Promise<void> => {
    const fresh = { [INSTALLATION_ID_FACT]: randomUUID(), [LIFE_FACT]: lifeText(randomUUID(), 0) }
    for (const [_id, value] of Object.entries(fresh)) {
      const fact = { value, changedAt: new Date() }
      await facts.updateOne({ _id }, { $setOnInsert: fact }, { upsert: true })
    }
  }

  return {
    /** Creates installation and life where they are missing. */
    read: async (): Promise<InstallationLife> => {
      const stored = await find()
      if (stored !== null) return stored
      await create()
      const created = await find()
      if (created === null) throw new Error('the life of the installation cannot be read back')
      return created
    },
    lostWallets: (): Promise<LostWallets | null> => LOST_WALLETS.read(db),
    /** Raises the beat from the one that was read; false when another process raised it, or the life is another. Together with the audit row, if one is given. */
    beat: async ({ life, beat }: InstallationLife, to: number, audit?: AuditRecord): Promise<boolean> => {
      const filter = { _id: LIFE_FACT, value: lifeText(life, beat) }
      const change = { $set: { value: lifeText(life, to), changedAt: new Date() } }
      if (audit === undefined) return (await facts.updateOne(filter, change)).matchedCount === 1
      return await audited(db, audit, async (session) => {
        return (await facts.updateOne(filter, change, { session })).matchedCount === 1
      })
    },
  }
}

/** Starts another life of a database that was just restored: the marks of the former one are read, and never written by it. */
export async function startLife(db: Database): Promise<InstallationLife> {
  await writeFact(db, LIFE_FACT, lifeText(randomUUID(), 0))
  return await createInstallationLifeRepository(db).read()
}
