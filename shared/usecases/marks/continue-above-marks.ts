import { AUDIT, BEAT, ceilingOf, nextOf, numberOf } from '#shared/domain/marks/mark-fields.ts'
import type { InstallationLife, IssuedNumbers, KeyCounters, Mark } from '#shared/ports/marks.ts'
import type { Runtime } from '#shared/ports/runtime.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import type { MarksDeps } from './marks.ts'

type ContinueDeps = Runtime & MarksDeps & Uses<'issued'>

/**
 * What may have been issued, by its marks: nothing at or above a key's ceiling was, and the store never derived less than it issued. A series
 * is marked ahead of its last number.
 */
export function issuedFrom(marks: ReadonlyMap<string, Mark>): IssuedNumbers {
  return {
    firstFree: ({ materialId, derivedCount, nextIndex }) =>
      Math.max(marks.get(ceilingOf(materialId))?.value ?? 0, derivedCount, nextIndex),
    lastNumber: ({ workspaceId, mode, number }) => Math.max(marks.get(numberOf(workspaceId, mode))?.value ?? 0, number),
    auditNumber: marks.get(AUDIT)?.value ?? 0,
  }
}

/**
 * Lets a store that went back in time continue above its marks. Its beat is raised last, in one transaction with an audit row: until then no process
 * reserves an index, and a crash repeats all of it. Every key moves to its ceiling, also one whose marks are not higher: what it issued in the
 * second before the store was lost is in no mark.
 */
export async function continueAbove(
  { issued, installationLife, clock, metrics, logger }: ContinueDeps,
  store: InstallationLife,
  marks: ReadonlyMap<string, Mark>,
): Promise<void> {
  const at = clock.now()
  const taken = await issued.takePrecautions(issuedFrom(marks), { quarantineMs: null, at })
  const marked = marks.get(BEAT)?.value ?? 0
  const detail = { store_beat: store.beat, marked_beat: marked, keys: taken.keys, listed_addresses: taken.addresses }
  await installationLife.beat(store, marked + 1, {
    id: `store-went-back:${store.life}:${marked}`,
    at,
    actor: 'system:marks',
    action: 'installation.store_went_back',
    subject: 'installation',
    workspaceId: null,
    mode: null,
    detail,
  })
  metrics.count('store_went_back_total')
  logger.error(detail, 'the store went back in time; it continues above everything that may have been issued')
}

/** The same for keys of which the store says less than their marks, although it did not go back as a whole. */
export async function continueKeys(
  { issued, metrics, logger }: ContinueDeps,
  counters: readonly KeyCounters[],
  marks: ReadonlyMap<string, Mark>,
): Promise<void> {
  const { firstFree } = issuedFrom(marks)
  for (const key of counters) {
    if (key.nextIndex >= (marks.get(nextOf(key.materialId))?.value ?? 0)) continue
    metrics.count('store_went_back_total')
    logger.error(key, 'a key went back in time; it continues above everything that may have been issued')
    await issued.continueKey(key.materialId, firstFree(key))
  }
}
