import type { Ms } from '#shared/domain/invoice/model.ts'
import type { RetentionRule } from '#shared/ports/retention.ts'
import { IDEMPOTENCY_WINDOW_MS } from '#shared/usecases/requests/idempotency-scope.ts'
import type { Uses } from '#shared/usecases/uses.ts'

const BATCH = 500
/** Pricing a block needs rates from slightly before it. */
const MARGIN_MS = 86_400_000
/** A guard goes well after the time until which it answers: requests in flight have read it. */
const GUARD_MARGIN_MS = 3_600_000

export type RetentionDeps = Uses<'retention' | 'clock' | 'metrics'>

/**
 * Removes expired documents, in batches, oldest first, and reports for every collection how far its oldest document is past its
 * lifetime: also where the database removes them, to show when it does not. Data that a lagging scanner still needs stays.
 * Invoices stay, but not the guards of idempotency keys that ended.
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
  while (!shouldStop()) {
    const read = await deps.retention.removeEndedGuards(now - IDEMPOTENCY_WINDOW_MS - GUARD_MARGIN_MS, BATCH)
    if (read < BATCH) break
  }
  return removed
}

async function removeEnded(
  deps: RetentionDeps,
  { collection, lifeMs, waitsForScanners, countsFromScanners }: RetentionRule,
  now: Ms,
  scanned: Ms | null,
  shouldStop: () => boolean,
): Promise<number> {
  const ended = now - lifeMs
  const reached = Math.min(now, scanned ?? now)
  const waits = waitsForScanners ? Math.min(ended, reached - MARGIN_MS) : ended
  const before = countsFromScanners ? reached - lifeMs : waits
  let removed = 0
  while (!shouldStop()) {
    const count = await deps.retention.remove(collection, before, BATCH)
    removed += count
    if (count > 0) deps.metrics.count('retention_deleted_total', { collection }, count)
    if (count < BATCH) break
  }
  return removed
}
