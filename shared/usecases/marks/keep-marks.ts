import { AUDIT, BEAT, ceilingOf, nextOf, numberOf, subjectOf, WRITTEN_AT } from '#shared/domain/marks/mark-fields.ts'
import type { InstallationLife, IssuedRepository, KeyCounters, Mark, SeriesNumber } from '#shared/ports/marks.ts'
import type { Runtime } from '#shared/ports/runtime.ts'
import type { AuditKeys } from '#shared/ports/secrets.ts'
import { issuedFrom, QUARANTINE_MS } from './issued-from-marks.ts'
import { type MarkReading, readMarks, writeMarks } from './mark-records.ts'
import type { MarksDeps } from './marks.ts'

/** Invoices that are on their way into the store carry an earlier time than those that are there. */
const OVERLAP_MS = 5_000
/** While nothing is issued, the places are still written this often: one that fails is noticed before it is needed. */
const WRITE_EVERY_MS = 10_000
/** A series is marked ahead by this many numbers, or by what the busiest round would use in two minutes, so that its mark is rarely written. */
const NUMBERS_AHEAD = 1_000
const ROUNDS_AHEAD = 120

/** Dependencies of keeping the marks. */
export interface KeepMarksDeps extends Runtime, MarksDeps {
  readonly markKeys: AuditKeys
  readonly issued: IssuedRepository
}

/** Keeps the marks equal to what the store issues, and the store above the marks. */
export interface MarkKeeper {
  /** One round, for the process that raises the ceilings: about each second. */
  run(): Promise<void>
}

/**
 * A round reads the marks, then the store. A store whose beat is below that of the marks went back in time: it continues above all that the marks
 * name, without a person. Otherwise, when something was issued since the last round, the store's beat is raised, and then the marks.
 */
export function createMarkKeeper(deps: KeepMarksDeps): MarkKeeper {
  const { markPlaces: places, markKeys: keys, installationLife, issued, clock, metrics, logger } = deps
  let identity: InstallationLife | null = null
  /** What the places have, as far as this process read or wrote it; null = all of it is read, checked and written again. */
  let kept: Map<string, Mark> | null = null
  let seenAt: number | null = null
  let writtenAt = 0
  const busiest = new Map<string, number>()

  const write = async (record: InstallationLife, marks: readonly Mark[]): Promise<void> => {
    const now = clock.now()
    const all = [{ field: WRITTEN_AT, value: now }, ...marks]
    const written = await writeMarks(places, record, all, keys)
    writtenAt = now
    for (const place of places) {
      if (!written.includes(place)) continue
      metrics.gauge('marks_written_at_seconds', now / 1_000, { place: place.name })
    }
    // A place that missed this gets everything in the next round.
    if (written.length < places.length) forget(record)
    else for (const mark of all) kept?.set(mark.field, mark)
  }

  /** Reads everything, drops what was not signed, and gives each place what the others have, signed by the present key. */
  const readAll = async (record: InstallationLife): Promise<MarkReading> => {
    const reading = await readMarks(places, record, 'all', keys)
    for (const [place, fields] of reading.unsigned) {
      metrics.count('marks_unsigned_total', { place: place.name }, fields.length)
      logger.error({ place: place.name, fields: fields.slice(0, 20) }, 'marks that no key of this installation signed')
      await place.remove(record, fields).catch(() => undefined)
    }
    return reading
  }

  const continueAbove = async (store: InstallationLife, marks: ReadonlyMap<string, Mark>): Promise<void> => {
    const at = clock.now()
    const taken = await issued.takePrecautions(issuedFrom(marks), { quarantineUntil: at + QUARANTINE_MS, at })
    const beat = (marks.get(BEAT)?.value ?? 0) + 1
    const detail = {
      store_beat: store.beat,
      marked_beat: beat - 1,
      keys: taken.keys,
      listed_addresses: taken.addresses,
    }
    await installationLife.beat(store, beat, {
      ...{
        id: `store-went-back:${store.life}:${beat}`,
        at,
        actor: 'system:marks',
        action: 'installation.store_went_back',
      },
      ...{ subject: 'installation', workspaceId: null, mode: null, detail },
    })
    metrics.count('store_went_back_total')
    logger.error(detail, 'the store went back in time; it continues above everything that may have been issued')
  }

  /** Keys of which the store says less than their marks, although it did not go back as a whole. */
  const continueKeys = async (keys: readonly KeyCounters[], marks: ReadonlyMap<string, Mark>): Promise<void> => {
    const { firstFree } = issuedFrom(marks)
    for (const key of keys) {
      if (key.nextIndex >= (marks.get(nextOf(key.materialId))?.value ?? 0)) continue
      metrics.count('store_went_back_total')
      logger.error(key, 'a key went back in time; it continues above everything that may have been issued')
      await issued.continueKey(key.materialId, firstFree(key))
    }
  }

  const newMarks = async (
    now: number,
    counters: readonly KeyCounters[],
    known: ReadonlyMap<string, Mark>,
  ): Promise<readonly Mark[]> => {
    const valueOf = (field: string): number => known.get(field)?.value ?? 0
    const since = seenAt ?? known.get(WRITTEN_AT)?.value ?? null
    const series = await issued.listNumbers(since === null ? null : since - OVERLAP_MS)
    const numbers = series.map((one) => aheadOf(one, valueOf(numberOf(one.workspaceId, one.mode))))
    const ofKeys = counters.flatMap(({ materialId, nextIndex, derivedCount }) => [
      { field: ceilingOf(materialId), value: derivedCount },
      { field: nextOf(materialId), value: nextIndex },
    ])
    seenAt = now
    return [...numbers, ...ofKeys].filter(({ field, value }) => value > valueOf(field))
  }

  const aheadOf = ({ workspaceId, mode, number }: SeriesNumber, marked: number): Mark => {
    const field = numberOf(workspaceId, mode)
    const before = busiest.get(field)
    busiest.set(field, number)
    const ahead = Math.max(NUMBERS_AHEAD, ROUNDS_AHEAD * (number - (before ?? number)))
    return { field, value: number + ahead / 2 > marked ? number + ahead : marked }
  }

  const isEveryPlaceKept = async (record: InstallationLife, marked: number): Promise<boolean> => {
    const beats = await Promise.all(places.map((place) => readMarks([place], record, [BEAT], keys)))
    return beats.every(({ marks }) => (marks.get(BEAT)?.value ?? 0) === marked)
  }

  const round = async (): Promise<void> => {
    const now = clock.now()
    identity ??= await installationLife.read()
    const isKept = kept !== null && (await isEveryPlaceKept(identity, kept.get(BEAT)?.value ?? 0))
    const reading = isKept ? null : await readAll(identity)
    if (reading?.answered.length === 0) return
    const marks = reading?.marks ?? kept ?? new Map<string, Mark>()
    const store = await installationLife.read()
    if (store.life !== identity.life || store.installation !== identity.installation) return forget(store)
    if ((marks.get(BEAT)?.value ?? 0) > store.beat) {
      await continueAbove(store, marks)
      return forget(store)
    }
    const counters = await issued.listCounters()
    await continueKeys(counters, marks)
    if (reading !== null) kept = new Map(reading.marks)
    const isIssuing = seenAt === null || (await issued.isAnyChanged(seenAt - OVERLAP_MS))
    if (isIssuing && !(await installationLife.beat(store, store.beat + 1))) return forget(store)
    const again = reading === null ? [] : [...reading.marks.values()].filter(isKnown)
    const fresh = isIssuing ? await newMarks(now, counters, marks) : []
    const isDue = isIssuing || reading !== null || now - writtenAt >= WRITE_EVERY_MS
    // The beat comes last: a place that has it has all that was issued before it.
    const beat: readonly Mark[] = isDue ? [{ field: BEAT, value: isIssuing ? store.beat + 1 : store.beat }] : []
    if (isDue) await write(store, [...again, ...fresh, ...beat])
  }

  const forget = (store: InstallationLife): void => {
    identity = store
    kept = null
    seenAt = null
  }

  for (const { name } of places) metrics.gauge('marks_written_at_seconds', clock.now() / 1_000, { place: name })
  return {
    run: async () => {
      if (places.length > 0) await round()
    },
  }
}

/** A field of another version is not written again. */
const isKnown = ({ field }: Mark): boolean => field === AUDIT || subjectOf(field) !== null
