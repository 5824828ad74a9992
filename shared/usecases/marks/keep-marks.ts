import type { Ms } from '#shared/domain/invoice/model.ts'
import {
  AUDIT,
  BEAT,
  BORN,
  ceilingOf,
  nextOf,
  numberOf,
  subjectOf,
  WRITTEN_AT,
} from '#shared/domain/marks/mark-fields.ts'
import type { InstallationLife, KeyCounters, Mark, SeriesNumber } from '#shared/ports/marks.ts'
import type { Runtime } from '#shared/ports/runtime.ts'
import type { AuditKeys } from '#shared/ports/secrets.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { continueAbove, continueKeys } from './continue-above-marks.ts'
import { type MarkReading, otherLives, readMarks, writeMarks } from './mark-records.ts'
import type { MarksDeps } from './marks.ts'

/** Invoices that are on their way into the store carry an earlier time than those that are there. */
const OVERLAP_MS = 5_000
/** While nothing is issued, the places are still written this often: one that fails is noticed before it is needed. */
const WRITE_EVERY_MS = 10_000
/** A series is marked ahead by this many numbers, or by what the busiest round would use in two minutes, so that its mark is rarely written. */
const NUMBERS_AHEAD = 1_000
const ROUNDS_AHEAD = 120

/** Dependencies of keeping the marks. */
export type KeepMarksDeps = Runtime &
  MarksDeps &
  Uses<'issued'> & {
    readonly markKeys: AuditKeys
  }

type MarksByField = ReadonlyMap<string, Mark>

const valueIn = (marks: MarksByField, field: string): number => marks.get(field)?.value ?? 0

/**
 * Keeps the marks equal to what the store issues, and the store above the marks. A round reads the marks, then the store. A store whose beat is below that of the marks went back in time: it continues above all that the marks
 * name, without a person. Otherwise, when something was issued since the last round, the store's beat is raised, and then the marks.
 */
export function createMarkKeeper(deps: KeepMarksDeps) {
  const { markPlaces: places, installationLife, issued, clock, metrics } = deps
  let identity: InstallationLife | null = null
  /** All that this process read or said: while it lives, it outlasts a place that was emptied. */
  const known = new Map<string, Mark>()
  /** Whether every place has all of it; otherwise everything is read, checked and written again. */
  let isHeld = false
  let seenAt: Ms | null = null
  let writtenAt: Ms = 0
  const numberOfSeries = createNumbersAhead()

  const forget = (store: InstallationLife): void => {
    if (identity?.life !== store.life || identity.installation !== store.installation) known.clear()
    identity = store
    isHeld = false
    seenAt = null
  }

  const write = async (record: InstallationLife, now: Ms, marks: readonly Mark[]): Promise<void> => {
    const all = [...marks, { field: WRITTEN_AT, value: now }].toSorted(byOrderOfWriting)
    const written = await writeMarks(places, record, all, deps.markKeys)
    writtenAt = now
    for (const { name } of written) metrics.gauge('marks_written_at_seconds', now / 1_000, { place: name })
    for (const mark of all) known.set(mark.field, mark)
    // A place that missed this gets everything in the next round.
    isHeld = written.length === places.length
  }

  const newMarks = async (now: Ms, counters: readonly KeyCounters[]): Promise<readonly Mark[]> => {
    const since = seenAt ?? known.get(WRITTEN_AT)?.value ?? null
    // A clock that was put back says nothing about what came before.
    const series = await issued.listNumbers(since === null || since > now ? null : since - OVERLAP_MS)
    const ofKeys = counters.flatMap(({ materialId, nextIndex, derivedCount }) => [
      { field: ceilingOf(materialId), value: derivedCount },
      { field: nextOf(materialId), value: nextIndex },
    ])
    seenAt = now
    const ofSeries = series.map((one) => numberOfSeries(one, known))
    return [...ofSeries, ...ofKeys].filter(({ field, value }) => value > valueIn(known, field))
  }

  const round = async (): Promise<readonly KeyCounters[] | null> => {
    const now = clock.now()
    identity ??= await installationLife.read()
    const reading = isHeld && (await isHeldEverywhere(deps, identity, known)) ? null : await readAll(deps, identity)
    if (reading?.answered.length === 0) return null
    const store = await installationLife.read()
    if (store.life !== identity.life || store.installation !== identity.installation) {
      forget(store)
      return null
    }
    if (reading !== null) {
      forget(store)
      for (const mark of reading.marks.values())
        if (mark.value >= valueIn(known, mark.field)) known.set(mark.field, mark)
    }
    if (valueIn(known, BEAT) > store.beat) {
      // First to the places: one that was emptied meanwhile shows every process again that the store is behind.
      await write(store, now, [...known.values()].filter(isLasting))
      // Another process writes how far the audit log went.
      await continueAbove(deps, store, new Map([...known, ...auditOf(await readAll(deps, identity))]))
      forget(store)
      return null
    }
    const counters = await issued.listCounters()
    await continueKeys(deps, counters, known)
    const isIssuing = seenAt === null || seenAt > now || (await issued.isAnyChanged(seenAt - OVERLAP_MS))
    const beat = isIssuing ? store.beat + 1 : store.beat
    if (isIssuing && !(await installationLife.beat(store, beat))) {
      forget(store)
      return counters
    }
    const again = reading === null ? [] : [...known.values(), ...(await birthOf(deps, store, known))]
    const fresh = isIssuing ? await newMarks(now, counters) : []
    if (!isIssuing && reading === null && now - writtenAt < WRITE_EVERY_MS) return counters
    await write(store, now, [...again.filter(isWrittenAgain), ...fresh, { field: BEAT, value: beat }])
    return counters
  }

  for (const { name } of places) metrics.gauge('marks_written_at_seconds', clock.now() / 1_000, { place: name })
  return {
    /**
     * One round, for the process that raises the ceilings: about each second. Nothing happens without a place for marks. Returns the counters of
     * all keys as the store has them.
     */
    run: async () => (places.length > 0 ? await round() : null) ?? (await issued.listCounters()),
  }
}

/** Reads everything, and removes what no key of the installation signed. */
async function readAll(deps: KeepMarksDeps, record: InstallationLife): Promise<MarkReading> {
  const reading = await readMarks(deps.markPlaces, record, 'all', deps.markKeys)
  for (const [place, texts] of reading.unsigned) {
    deps.metrics.count('marks_unsigned_total', { place: place.name }, texts.size)
    const fields = [...texts.keys()].slice(0, 20)
    deps.logger.error({ place: place.name, fields }, 'marks that no key of this installation signed')
    await place.remove(record, texts).catch(() => undefined)
  }
  return reading
}

/**
 * The mark of a life that begins here: none when the places hold another life of this installation, because then only a restore begins one. Such a
 * store was put together by somebody.
 */
async function birthOf(deps: KeepMarksDeps, store: InstallationLife, known: MarksByField): Promise<readonly Mark[]> {
  if (known.has(BORN)) return []
  if ((await otherLives(deps.markPlaces, store)).length === 0) return [{ field: BORN, value: 1 }]
  deps.metrics.count('store_went_back_total')
  deps.logger.error({ life: store.life }, 'no restore began this life of the database, and another one is recorded')
  return []
}

/** Whether every place has the beat that was written last: one that was emptied or replaced has not. */
async function isHeldEverywhere(deps: KeepMarksDeps, record: InstallationLife, known: MarksByField): Promise<boolean> {
  const beats = await Promise.all(deps.markPlaces.map((place) => readMarks([place], record, [BEAT], deps.markKeys)))
  return beats.every(({ marks }) => valueIn(marks, BEAT) === valueIn(known, BEAT))
}

/** The beat comes last: a place that has it has all that was issued before it. What names others comes after them, if a writing ends half way. */
const WRITTEN_LAST: readonly string[] = [AUDIT, BORN, WRITTEN_AT, BEAT]
const byOrderOfWriting = (one: Mark, other: Mark): number =>
  WRITTEN_LAST.indexOf(one.field) - WRITTEN_LAST.indexOf(other.field)

/** The marks of series: ahead of their last number, so that numbers of the last moments are below them as well. */
function createNumbersAhead(): (series: SeriesNumber, marks: MarksByField) => Mark {
  const before = new Map<string, number>()
  return ({ workspaceId, mode, number }, marks) => {
    const field = numberOf(workspaceId, mode)
    const growth = number - (before.get(field) ?? number)
    before.set(field, number)
    const ahead = Math.max(NUMBERS_AHEAD, ROUNDS_AHEAD * growth)
    return { field, value: number + ahead / 2 > valueIn(marks, field) ? number + ahead : valueIn(marks, field) }
  }
}

/** All but the marks of the record itself, which each round writes, and those of another version. */
const isWrittenAgain = ({ field }: Mark): boolean => field === AUDIT || field === BORN || subjectOf(field) !== null
const auditOf = ({ marks }: MarkReading) => [...marks].filter(([field]) => field === AUDIT)
const isLasting = (mark: Mark): boolean => mark.field === BEAT || isWrittenAgain(mark)
