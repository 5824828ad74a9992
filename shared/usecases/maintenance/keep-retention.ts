import type { Ms } from '#shared/domain/invoice/model.ts'
import type { RetentionRepository, RetentionRule } from '#shared/ports/retention.ts'
import type { Clock, Metrics } from '#shared/ports/runtime.ts'

const BATCH = 500
/** Rates are needed from a little before the block that is priced. */
const MARGIN_MS = 86_400_000

export interface RetentionDeps {
  readonly retention: RetentionRepository
  readonly clock: Clock
  readonly metrics: Metrics
}

/**
 * Removes what is past its life, in batches, oldest first, and says for every collection how far its oldest document is past it: also
 * where the database itself removes them, so that it shows when it does not. What a scanner that is behind will still need stays.
 */
export async function keepRetention(deps: RetentionDeps, shouldStop: () => boolean): Promise<number> {
  const now = deps.clock.now()
  const scanned = await deps.retention.scannedThrough()
  let removed = 0
  for (const rule of deps.retention.rules) {
    if (rule.by === 'job') removed += await removeEnded(deps, rule, now, scanned, shouldStop)
    const oldest = await deps.retention.oldest(rule.collection)
    const overdueMs = oldest === null ? 0 : now - rule.lifeMs - oldest
    deps.metrics.gauge('retention_overdue_seconds', Math.max(0, overdueMs) / 1_000, { collection: rule.collection })
    if (shouldStop()) break
  }
  return removed
}

async function removeEnded(
  deps: RetentionDeps,
  { collection, lifeMs }: RetentionRule,
  now: Ms,
  scanned: Ms | null,
  shouldStop: () => boolean,
): Promise<number> {
  const before = Math.min(now - lifeMs, (scanned ?? now) - MARGIN_MS)
  let removed = 0
  while (!shouldStop()) {
    const count = await deps.retention.remove(collection, before, BATCH)
    removed += count
    if (count > 0) deps.metrics.count('retention_deleted_total', { collection }, count)
    if (count < BATCH) break
  }
  return removed
}
