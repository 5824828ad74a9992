import type { Mark, MarkPlace, MarkRecordId } from '#shared/ports/marks.ts'
import type { AuditKeys } from '#shared/ports/secrets.ts'
import { type MarkKeys, markText, readMark } from './mark-text.ts'

/** What the places that answered hold of one record. */
export interface MarkReading {
  /** The highest mark of each field. */
  readonly marks: ReadonlyMap<string, Mark>
  /** Places that answered. */
  readonly answered: readonly MarkPlace[]
  /** Fields of each place whose text no key of the installation signed; empty where marks cannot be checked. */
  readonly unsigned: ReadonlyMap<MarkPlace, readonly string[]>
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
  const unsigned = new Map<MarkPlace, string[]>()
  const answered: MarkPlace[] = []
  for (const [index, texts] of read.entries()) {
    const place = places[index]
    if (texts === null || place === undefined) continue
    answered.push(place)
    for (const [field, text] of texts) {
      const mark = readMark(record, field, text, keys)
      if (mark === null) unsigned.set(place, [...(unsigned.get(place) ?? []), field])
      else if (mark.value > (marks.get(field)?.value ?? -1)) marks.set(field, mark)
    }
  }
  return { marks, answered, unsigned }
}

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
