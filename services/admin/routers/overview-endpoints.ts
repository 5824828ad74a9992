import type { Mode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import { quantile } from '#shared/usecases/read-overview.ts'
import type { AdminDeps } from '../admin-deps.ts'

/** More endpoints than this are not shown on the front page. */
const SHOWN_MAX = 20
/** So many of the last deliveries in a row failed: the endpoint is failing. */
const FAILING_RUN = 3

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
  const rows = endpoints.map(({ id, url, status }, index) => {
    const { made = 0, succeeded = 0, failed = 0, firstAttemptsMs = [] } = counts[index] ?? {}
    const health = healths[index]
    const last = health?.finished.slice(0, FAILING_RUN) ?? []
    const failing = last.length === FAILING_RUN && last.every((delivery) => delivery.status === 'failed')
    const due = health?.oldestDueAt ?? null
    return {
      id,
      host: new URL(url).host,
      status: status === 'disabled' ? ('paused' as const) : failing ? ('failing' as const) : ('healthy' as const),
      made,
      succeeded,
      failed,
      waiting: health?.waiting ?? 0,
      firstAttemptP99Ms: quantile(firstAttemptsMs, 0.99),
      oldestDueAt: due !== null && due < now ? due : null,
    }
  })
  return { endpoints: rows, firstAttemptsMs: counts.flatMap(({ firstAttemptsMs }) => firstAttemptsMs) }
}
