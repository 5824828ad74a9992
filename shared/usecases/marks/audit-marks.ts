import { AUDIT, BORN, takenBackOf } from '#shared/domain/marks/mark-fields.ts'
import { takesBack } from '#shared/domain/marks/taken-back.ts'
import type { AuditMarks } from '#shared/ports/audit-marks.ts'
import type { InstallationLife, Mark, MarkPlace, MarkRecordId } from '#shared/ports/marks.ts'
import type { AuditKeys } from '#shared/ports/secrets.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { otherLives, readMarks, writeMarks } from './mark-records.ts'
import type { MarksDeps } from './marks.ts'

/** Rows read at once when a place lacks marks of many. */
const PAGE = 500

/** Dependencies of the audit log's marks. */
export type AuditMarksDeps = MarksDeps &
  Uses<'auditChain'> & {
    readonly markKeys: AuditKeys
  }

/**
 * The newest number of the audit log among the marks, and the rows about what was taken back. A mark is raised only together with all such rows
 * up to it, so that a place which was emptied gets them again.
 */
export function createAuditMarks(deps: AuditMarksDeps): AuditMarks {
  const { markPlaces: places, markKeys: keys, installationLife, auditChain } = deps

  const numberIn = async (record: InstallationLife): Promise<number | null> => {
    const { marks, answered } = await readMarks(places, record, [AUDIT, BORN], keys)
    if (answered.length === 0) return null
    const own = marks.get(AUDIT)?.value ?? null
    if (marks.has(BORN)) return own
    // Only a restore begins another life. One that nobody began, beside the record of a former one, must not hide that record.
    const numbers = [own, ...(await Promise.all((await otherLives(places, record)).map((life) => numberOf(life))))]
    return numbers.reduce<number | null>((most, each) => (each === null ? most : Math.max(most ?? 0, each)), null)
  }
  const numberOf = async (record: MarkRecordId): Promise<number | null> =>
    (await readMarks(places, record, [AUDIT], keys)).marks.get(AUDIT)?.value ?? null

  /** From the number that the place has; one that misses a page has no later one either. */
  const raiseIn = async (place: MarkPlace, record: InstallationLife, seq: number): Promise<void> => {
    const { marks, answered } = await readMarks([place], record, [AUDIT], keys)
    let marked = marks.get(AUDIT)?.value ?? 0
    while (marked < seq && answered.length > 0) {
      const rows = await auditChain.listChained({ seq: marked, id: '' }, PAGE)
      // A page that is not full ends with the last row; the mark may name a number that no row has.
      const next = rows.length < PAGE ? seq : Math.min(seq, rows.at(-1)?.seq ?? seq)
      const takenBack = rows
        .filter((row) => row.seq > marked && row.seq <= seq && takesBack(row.record.action))
        .map((row): Mark => ({ field: takenBackOf(row.record.id), value: row.seq, detail: JSON.stringify(row.record) }))
      const written = await writeMarks([place], record, [...takenBack, { field: AUDIT, value: next }], keys)
      if (written.length === 0) return
      marked = next
    }
  }

  return {
    highest: async () => (places.length === 0 ? null : await numberIn(await installationLife.read())),
    raise: async (seq) => {
      if (places.length === 0) return
      const record = await installationLife.read()
      await Promise.all(places.map((place) => raiseIn(place, record, seq)))
    },
  }
}
