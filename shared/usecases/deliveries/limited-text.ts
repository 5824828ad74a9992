import type { LimitedBy } from '#shared/db/endpoints/endpoint-model.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'

/**
 * How an endpoint at its own limit is doing, after its name: "answers in 700 ms and gets 24 events/s: it needs more at once than 64, or
 * is falling behind by 75 s". `perSecond` is null when it is not known.
 */
export function limitedText(
  { limit, latencyMs, isFailing }: LimitedBy,
  perSecond: number | null,
  behindMs: Ms,
): string {
  const gets =
    perSecond === null ? '' : ` and gets ${perSecond >= 10 ? Math.round(perSecond) : perSecond.toFixed(1)} events/s`
  const behind = `${Math.round(behindMs / 1_000)} s`
  if (isFailing) {
    return `times out or refuses requests${gets}: it gets ${limit} at once until it answers again, and is behind by ${behind}`
  }
  const answers = latencyMs === null ? 'has not answered yet' : `answers in ${Math.round(latencyMs)} ms`
  return `${answers}${gets}: it needs more at once than ${limit}, or is falling behind by ${behind}`
}
