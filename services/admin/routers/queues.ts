import { z } from 'zod'
import { COUNT_MAX } from '#shared/ports/delivery-search.ts'
import { QUEUES } from '#shared/ports/runtime.ts'
import { operatorQuery, router } from '../trpc.ts'

const WORKS = [...Object.values(QUEUES), 'payments', 'audit-chain'] as const
const jobs = z.object({ waiting: z.number(), active: z.number(), delayed: z.number(), failed: z.number() })

/** Waiting work, oldest due first: the store shows due work, Redis only wake-ups. */
export const queuesRouter = router({
  list: operatorQuery()
    .output(
      z.object({
        at: z.number(),
        /** Counts end here. */
        countMax: z.number(),
        /** Null while Redis accepts writes. */
        redisAwayMs: z.number().nullable(),
        items: z.array(
          z.object({
            work: z.enum(WORKS),
            /** Null for queues of wake-ups only: their work is stored under another name. */
            due: z.number().nullable(),
            oldestDueMs: z.number().nullable(),
            jobs: jobs.nullable(),
          }),
        ),
      }),
    )
    .query(async ({ ctx }) => {
      const { reads, queueCounts } = ctx.deps.instance
      const at = ctx.deps.clock.now()
      const [depths, counts] = await Promise.all([reads.depths(at), queueCounts.read()])
      const known = new Map(depths.map((depth) => [depth.work, depth]))
      const awayMs = queueCounts.redisAwayMs()
      return {
        at,
        countMax: COUNT_MAX,
        redisAwayMs: awayMs === 0 ? null : awayMs,
        items: WORKS.map((work) => {
          const depth = known.get(work)
          const oldestDueMs = depth === undefined || depth.oldestDueAt === null ? null : at - depth.oldestDueAt
          const own = work === 'payments' || work === 'audit-chain' ? null : (counts?.[work] ?? null)
          return { work, due: depth?.due ?? null, oldestDueMs, jobs: own }
        }),
      }
    }),
})
