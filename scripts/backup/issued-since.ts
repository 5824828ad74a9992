import { z } from 'zod'
import { INSTALLATION_ID_FACT, LIFE_FACT, lifeSchema } from '#shared/db/restore/installation-life-repository.ts'
import { MARKS_FACT } from '#shared/db/restore/marks-copy.ts'
import { AUDIT, BEAT, subjectOf, WRITTEN_AT } from '#shared/domain/marks/mark-fields.ts'
import type { Mark, MarkPlace, MarkRecordId } from '#shared/ports/marks.ts'
import type { AuditKeys } from '#shared/ports/secrets.ts'
import { readMarks } from '#shared/usecases/marks/mark-records.ts'
import { readMark } from '#shared/usecases/marks/mark-text.ts'

/** Facts of the installation that an archive holds, by name. */
export type ArchiveFacts = ReadonlyMap<string, string>

/** What the marks outside the database say was issued, whatever the archive holds. */
export interface IssuedSince {
  readonly marks: ReadonlyMap<string, Mark>
  /** Highest number of the audit log in any life; 0 when none is known. */
  readonly auditNumber: number
  /** Whether they are at least as new as the archive: without that, nothing is known of what was issued since. */
  readonly areCurrent: boolean
  /** Time of their last writing, milliseconds; null when there are none. */
  readonly writtenAt: number | null
  /** Places that are configured and did not answer. */
  readonly silent: readonly string[]
}

const copySchema = z.record(z.string(), z.record(z.string(), z.string()))

/**
 * Reads the marks of every life of the archive's installation, from every place and from the copy in the archive itself. Everything that any life
 * issued counts; only the record of the archive's own life shows whether the marks are current.
 */
export async function readIssuedSince(
  { markPlaces, markKeys }: { readonly markPlaces: readonly MarkPlace[]; readonly markKeys: AuditKeys },
  facts: ArchiveFacts,
): Promise<IssuedSince> {
  const marks = new Map<string, Mark>()
  const keep = (mark: Mark): void => {
    if (subjectOf(mark.field) !== null && mark.value > (marks.get(mark.field)?.value ?? -1)) marks.set(mark.field, mark)
  }
  const own = ownLife(facts)
  if (own === null) return { marks, auditNumber: 0, areCurrent: false, writtenAt: null, silent: [] }
  for (const mark of copiedMarks(own.installation, facts, markKeys)) keep(mark)
  const silent = new Set<string>()
  const lives = new Set([own.life])
  for (const place of markPlaces) {
    const found = await place.lives(own.installation).catch(() => null)
    if (found === null) silent.add(place.name)
    for (const life of found ?? []) lives.add(life)
  }
  let current: ReadonlyMap<string, Mark> = new Map()
  let auditNumber = 0
  for (const life of lives) {
    const reading = await readMarks(markPlaces, { installation: own.installation, life }, 'all', markKeys)
    for (const place of markPlaces) if (!reading.answered.includes(place)) silent.add(place.name)
    for (const mark of reading.marks.values()) keep(mark)
    auditNumber = Math.max(auditNumber, reading.marks.get(AUDIT)?.value ?? 0)
    if (life === own.life) current = reading.marks
  }
  return {
    marks,
    auditNumber,
    areCurrent: (current.get(BEAT)?.value ?? -1) >= own.beat,
    writtenAt: current.get(WRITTEN_AT)?.value ?? null,
    silent: [...silent],
  }
}

function ownLife(facts: ArchiveFacts): (MarkRecordId & { readonly beat: number }) | null {
  const [installation, text] = [facts.get(INSTALLATION_ID_FACT), facts.get(LIFE_FACT)]
  if (installation === undefined || text === undefined) return null
  return { installation, ...lifeSchema.parse(JSON.parse(text)) }
}

function copiedMarks(installation: string, facts: ArchiveFacts, keys: AuditKeys): readonly Mark[] {
  const copy = copySchema.safeParse(JSON.parse(facts.get(MARKS_FACT) ?? '{}'))
  return Object.entries(copy.data ?? {}).flatMap(([life, texts]) =>
    Object.entries(texts).flatMap(([field, text]) => readMark({ installation, life }, field, text, keys) ?? []),
  )
}
