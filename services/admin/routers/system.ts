import { z } from 'zod'
import { operatorQuery, router } from '../trpc.ts'

/** A process sends a heartbeat every 15 s; one that missed three is gone or stuck. */
const MISSING_AFTER_MS = 50_000
const SHOWN_MS = 3_600_000

/** Running processes, lease holders, and whether Redis was replaced. */
export const systemRouter = router({
  processes: operatorQuery()
    .output(
      z.object({
        at: z.number(),
        processes: z.array(
          z.object({
            id: z.string(),
            name: z.string(),
            host: z.string(),
            pid: z.number(),
            version: z.string(),
            node: z.string(),
            startedAt: z.number(),
            seenAt: z.number(),
            verdict: z.enum(['running', 'stuck', 'missing']),
            /** Loops without progress. */
            silent: z.array(z.string()),
          }),
        ),
        leases: z.array(
          z.object({ id: z.string(), owner: z.string(), epoch: z.number(), until: z.number(), held: z.boolean() }),
        ),
        redis: z.object({
          /** Null while it accepts writes. */
          awayMs: z.number().nullable(),
          /** When it was last found to be replaced or empty; null before the first check. */
          since: z.number().nullable(),
        }),
      }),
    )
    .query(async ({ ctx }) => {
      const { reads, queueCounts } = ctx.deps.instance
      const at = ctx.deps.clock.now()
      const [processes, leases, since] = await Promise.all([
        reads.processes(at - SHOWN_MS),
        reads.leases(),
        reads.redisSince(),
      ])
      const awayMs = queueCounts.redisAwayMs()
      return {
        at,
        processes: processes
          .map((one) => {
            const missing = at - one.seenAt > MISSING_AFTER_MS
            const verdict = missing
              ? ('missing' as const)
              : one.silent.length > 0
                ? ('stuck' as const)
                : ('running' as const)
            return { ...one, silent: [...one.silent], verdict }
          })
          .sort((left, right) => (left.name < right.name ? -1 : 1)),
        leases: leases.map((lease) => ({ ...lease, held: lease.owner !== '' && lease.until > at })),
        redis: { awayMs: awayMs === 0 ? null : awayMs, since },
      }
    }),
})
