import mongoose from 'mongoose'
import { z } from 'zod'
import type { Database } from '#shared/db/connection/connect.ts'
import type { StoreMembers, StoreOplog, StoreRedundancyReader } from '#shared/ports/store-redundancy.ts'

/** MongoDB's error code for a user without the right (13 Unauthorized). */
const UNAUTHORIZED = 13
/** States in which a member does its duty: primary, secondary, arbiter (MongoDB manual, "Replica Set Member States", 2026-11). */
const AT_WORK: ReadonlySet<number> = new Set([1, 2, 7])
const PRIMARY = 1
const ARBITER = 7
/** A hanging primary costs one round of figures no more than this. (The driver's own `timeoutMS` does nothing: mongodb 7.8.0, `resolveOptions`.) */
const TIMEOUT_MS = 2_000

const statusSchema = z.object({
  members: z.array(
    z.object({
      name: z.string(),
      health: z.coerce.number(),
      state: z.coerce.number(),
      stateStr: z.string(),
      optimeDate: z.date().optional(),
    }),
  ),
})
const configSchema = z.object({
  config: z.object({
    members: z.array(z.object({ host: z.string(), secondaryDelaySecs: z.coerce.number().catch(0).default(0) })),
  }),
})
/** Seconds of a BSON timestamp. */
const timestamp = z.instanceof(mongoose.mongo.Timestamp).transform((value) => value.getHighBitsUnsigned())
const oplogSchema = z.object({
  oplog: z.object({ latestOptime: timestamp, earliestOptime: timestamp }),
  oplogTruncation: z.object({ truncateCount: z.coerce.number() }),
})
const diskSchema = z.object({ fsUsedSize: z.number().positive(), fsTotalSize: z.number().positive() })

/** Sections of `serverStatus` that nobody reads here and that cost the server something. */
const LEFT_OUT = { metrics: 0, wiredTiger: 0, tcmalloc: 0, locks: 0, repl: 0, network: 0 }

/** Reads the redundancy of the store. Rejects when the store does not answer; a right that is missing is part of the answer. */
export function createStoreRedundancy(db: Database): StoreRedundancyReader {
  const client = db.connection.getClient()
  const admin = client.db('admin')
  const command = (what: mongoose.mongo.Document, on = admin) =>
    on.command({ ...what, maxTimeMS: TIMEOUT_MS }, { signal: AbortSignal.timeout(TIMEOUT_MS) })
  return {
    read: async () => {
      const [status, config, server, disk] = await Promise.all([
        unlessDenied(command({ replSetGetStatus: 1 })),
        unlessDenied(command({ replSetGetConfig: 1 })),
        unlessDenied(command({ serverStatus: 1, oplog: 1, ...LEFT_OUT })),
        unlessDenied(command({ dbStats: 1 }, client.db(db.name))),
      ])
      const space = diskSchema.safeParse(disk)
      return {
        members: membersOf(status, config),
        oplog: oplogOf(server),
        disk: space.success ? { usedBytes: space.data.fsUsedSize, totalBytes: space.data.fsTotalSize } : null,
        isDenied: status === null || config === null || server === null,
      }
    },
  }
}

/** The answer, or null where this user has no right to it. */
async function unlessDenied(answer: Promise<mongoose.mongo.Document>): Promise<mongoose.mongo.Document | null> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof mongoose.mongo.MongoServerError && error.code === UNAUTHORIZED) return null
    throw error
  }
}

function membersOf(status: unknown, config: unknown): StoreMembers | null {
  const parsed = statusSchema.safeParse(status)
  if (!parsed.success) return null
  const { members } = parsed.data
  const known = configSchema.safeParse(config)
  const delayed = new Set(
    known.success
      ? known.data.config.members.filter(({ secondaryDelaySecs }) => secondaryDelaySecs > 0).map(({ host }) => host)
      : [],
  )
  const atWork = members.filter(({ health, state }) => health === 1 && AT_WORK.has(state))
  const newest = atWork.find(({ state }) => state === PRIMARY)?.optimeDate?.getTime()
  const lags = atWork
    .filter(({ name, state }) => state !== ARBITER && !delayed.has(name))
    .map(({ optimeDate }) => (newest ?? 0) - (optimeDate?.getTime() ?? newest ?? 0))
  return {
    total: members.length,
    healthy: atWork.length,
    faults: members.filter((member) => !atWork.includes(member)).map(({ name, stateStr }) => `${name}: ${stateStr}`),
    lagMs: Math.max(0, ...lags),
  }
}

function oplogOf(server: unknown): StoreOplog | null {
  const parsed = oplogSchema.safeParse(server)
  if (!parsed.success) return null
  const { latestOptime, earliestOptime } = parsed.data.oplog
  return {
    windowMs: Math.max(0, latestOptime - earliestOptime) * 1_000,
    truncations: parsed.data.oplogTruncation.truncateCount,
  }
}
