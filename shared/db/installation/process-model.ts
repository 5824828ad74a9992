import { COUNT, DATE, defineCollection, TEXT } from '#shared/db/connection/collection-model.ts'
import type { ProcessState } from '#shared/ports/processes.ts'

/** A stored heartbeat. */
export type ProcessDocument = Omit<ProcessState, 'id' | 'startedAt' | 'seenAt' | 'silent' | 'masterKeys'> & {
  _id: string
  startedAt: Date
  seenAt: Date
  silent: string[]
  masterKeys: string[]
}

const DAY_S = 86_400

/** The processes collection: one document per run of a process, kept a day after its last heartbeat. */
export const PROCESSES = defineCollection<ProcessDocument>(
  'processes',
  {
    _id: TEXT,
    name: TEXT,
    host: TEXT,
    pid: COUNT,
    version: TEXT,
    node: TEXT,
    startedAt: DATE,
    seenAt: DATE,
    silent: [String],
    masterKeys: [String],
  },
  [{ name: 'process_life', key: { seenAt: 1 }, expireAfterSeconds: DAY_S }],
)
