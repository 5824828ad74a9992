import { z } from 'zod'
import { defineCollection, type RecordOf } from '#shared/db/connection/collection-model.ts'
import { TIME } from '#shared/db/connection/stored-fields.ts'

const DAY_S = 86_400

/** The processes collection: one document per run of a process, kept a day after its last heartbeat. */
export const PROCESSES = defineCollection(
  'processes',
  {
    /** Id of this run of the process. */
    _id: z.string(),
    name: z.string(),
    host: z.string(),
    pid: z.number(),
    /** Version of Paymesh and of Node. */
    version: z.string(),
    node: z.string(),
    startedAt: TIME,
    seenAt: TIME,
    /** Loops without progress. */
    silent: z.array(z.string()),
    /** Ids of its master keys, the sealing one first. */
    masterKeys: z.array(z.string()),
    /** How far the clock of its machine is ahead of the store's; an earlier version does not say it. */
    driftMs: z.number().exactOptional(),
  },
  [{ name: 'process_life', key: { seenAt: 1 }, expireAfterSeconds: DAY_S }],
)

/** Heartbeat of a process. */
export type ProcessState = RecordOf<typeof PROCESSES>
