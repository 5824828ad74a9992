import { z } from 'zod'
import type { Database } from '#shared/db/connection/connect.ts'
import type { Episode } from '#shared/domain/problems/episodes.ts'
import { jsonFact } from './facts.ts'

const moment = z.number().nullable()
const episodesSchema = z.array(
  z.strictObject({
    ...{ name: z.string(), headline: z.string(), text: z.string(), patienceMs: z.number(), since: z.number() },
    ...{ announcedAt: moment, wellSince: moment, endedAt: moment },
  }),
)
const EPISODES = jsonFact<readonly Episode[]>('operator-episodes', episodesSchema)

/** The problems of the installation that operators are told of, on MongoDB: one small document. */
export function createEpisodeRepository(db: Database) {
  return {
    read: async (): Promise<readonly Episode[]> => (await EPISODES.read(db)) ?? [],
    replace: (episodes: readonly Episode[]): Promise<void> => EPISODES.write(db, episodes),
  }
}
