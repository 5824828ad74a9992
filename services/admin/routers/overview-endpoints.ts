import type { Mode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import { endpointName } from '#shared/domain/webhook/endpoint-name.ts'
import { quantile } from '#shared/usecases/reports/read-overview.ts'
import type { AdminDeps } from '../assemble.ts'
import { endpointToWire } from '../wire/endpoint-wire.ts'

/** Further endpoints are not shown on the front page. */
const SHOWN_MAX = 20

/** One row per endpoint of this mode, and all their first attempts for a common percentile. */
export async function endpointCards(
  deps: AdminDeps,
  { workspaceId, mode }: { readonly workspaceId: string; readonly mode: Mode },
  since: Ms,
  now: Ms,
) {
  const { endpoints: store, deliveryReads } = deps.instance
  const endpoints = (await store.list(workspaceId, mode)).slice(0, SHOWN_MAX)
  const ids = endpoints.map(({ id }) => id)
  const [counts, healths] = await Promise.all([
    deps.overviewReads.deliveries(ids, mode, since),
    Promise.all(ids.map((id) => deliveryReads.health(id))),
  ])
  const rows = endpoints.flatMap((endpoint, index) => {
    const { made = 0, tried = 0, firstTry = 0, succeeded = 0, failed = 0, firstAttemptsMs = [] } = counts[index] ?? {}
    const found = healths[index]
    if (found === undefined) return []
    const { state, waiting, retrying, oldestDueAt } = endpointToWire(endpoint, found, null, now).health
    return {
      id: endpoint.id,
      host: endpointName(endpoint),
      state,
      ...{ made, tried, firstTry, succeeded, failed, waiting, retrying },
      firstAttemptP99Ms: quantile(firstAttemptsMs, 0.99),
      oldestDueAt: oldestDueAt !== null && oldestDueAt < now ? oldestDueAt : null,
    }
  })
  return { endpoints: rows, firstAttemptsMs: counts.flatMap(({ firstAttemptsMs }) => firstAttemptsMs) }
}
