import { z } from 'zod'
import type { Database } from '#shared/db/connection/connect.ts'
import type { Episode } from '#shared/domain/problems/episodes.ts'
import { INSTALLATION } from './installation-model.ts'

const ID = 'operator-episodes'

const moment = z.number().nullable()
const episodesSchema = z.array(
  z.strictObject({
    ...{ name: z.string(), headline: z.string(), text: z.string(), patienceMs: z.number(), since: z.number() },
    ...{ announcedAt: moment, wellSince: moment, endedAt: moment },
  }),
)

/** The problems of the installation that operators are told of, on MongoDB: one small document. */
export function createEpisodeRepository(db: Database) {
  const facts = db.collection(INSTALLATION)
  return {
    read: async (): Promise<readonly Episode[]> => {
      const fact = await facts.findOne({ _id: ID })
      return fact === null ? [] : episodesSchema.parse(JSON.parse(fact.value))
    },
    replace: async (episodes: readonly Episode[]): Promise<void> => {
      const change = { $set: { value: JSON.stringify(episodes) }, $currentDate: { changedAt: true as const } }
      await facts.updateOne({ _id: ID }, change, { upsert: true })
    },
  }
}
