import type { Mark, MarkPlace, MarkRecordId } from '#shared/ports/marks.ts'
import type { AuditKeys } from '#shared/ports/secrets.ts'
import { type MarkKeys, markText, readMark } from './mark-text.ts'

/** What the places that answered hold of one record. */
export interface MarkReading {
  /** The highest mark of each field. */
  readonly marks: ReadonlyMap<string, Mark>
  /** Places that answered. */
  readonly answered: readonly MarkPlace[]
  /** Texts of each place, by field, that no key of the installation signed and that say more than a signed one; empty where marks cannot be checked. */
  readonly unsigned: ReadonlyMap<MarkPlace, ReadonlyMap<string, readonly string[]>>
}

/** Reads one record from every place. A place that does not answer is left out; nothing is thrown. */
export async function readMarks(
  places: readonly MarkPlace[],
  record: MarkRecordId,
  fields: readonly string[] | 'all',
  keys: MarkKeys,
): Promise<MarkReading> {
  const read = await Promise.all(places.map((place) => place.read(record, fields).catch(() => null)))
  const marks = new Map<string, Mark>()
  const unsigned = new Map<MarkPlace, Map<string, readonly string[]>>()
  const answered: MarkPlace[] = []
  for (const [index, texts] of read.entries()) {
    const place = places[index]
    if (texts === null || place === undefined) continue
    answered.push(place)
    const misleading = new Map<string, readonly string[]>()
    for (const [field, each] of texts) {
      const highest = each
        .flatMap((text) => readMark(record, field, text, keys) ?? [])
        .reduce<Mark | null>((most, mark) => (most === null || mark.value > most.value ? mark : most), null)
      if (highest !== null && highest.value > (marks.get(field)?.value ?? -1)) marks.set(field, highest)
      // One that a former key signed, beside the same number under a newer key, misleads nobody.
      const bad = each.filter((text) => readMark(record, field, text, keys) === null && !isBelow(text, highest))
      if (bad.length > 0) misleading.set(field, bad)
    }
    if (misleading.size > 0) unsigned.set(place, misleading)
  }
  return { marks, answered, unsigned }
}

const isBelow = (text: string, mark: Mark | null): boolean => mark !== null && Number.parseInt(text, 10) <= mark.value

/** Writes marks to every place. Returns the places that have them; nothing is thrown. */
export async function writeMarks(
  places: readonly MarkPlace[],
  record: MarkRecordId,
  marks: Iterable<Mark>,
  keys: AuditKeys,
): Promise<readonly MarkPlace[]> {
  const texts = new Map([...marks].map((mark) => [mark.field, markText(record, mark, keys)]))
  if (texts.size === 0) return places
  const written = await Promise.allSettled(places.map((place) => place.raise(record, texts)))
  return places.filter((_, index) => written[index]?.status === 'fulfilled')
}

/** The other lives of this installation that a place holds. A place that does not answer names none. */
export async function otherLives(
  places: readonly MarkPlace[],
  { installation, life: own }: MarkRecordId,
): Promise<readonly MarkRecordId[]> {
  const found = await Promise.all(places.map((place) => place.lives(installation).catch(() => [])))
  const lives = new Set(found.flat())
  lives.delete(own)
  return [...lives].map((life) => ({ installation, life }))
}
