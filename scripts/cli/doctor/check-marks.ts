import { WRITTEN_AT } from '#shared/domain/marks/mark-fields.ts'
import type { Runtime } from '#shared/ports/runtime.ts'
import { readMarks } from '#shared/usecases/marks/mark-records.ts'
import type { Installation } from '../session/installation.ts'

/** Longest time without a writing of the marks before it counts as a fault; they are written every ten seconds at least. */
const MARKS_AGE_MAX_MS = 60_000
const UNNOTICED =
  'a database that comes back from an earlier time, by another tool than `paymesh backup restore`, would issue the same addresses again, and nobody would notice'

/**
 * What was issued is recorded outside the database, in every configured place, and since when it is not. Throws when a place is not written, or none is
 * configured. Says in any case what nobody would notice.
 */
export async function checkMarks({
  markPlaces,
  markKeys,
  installationLife,
  clock,
}: Pick<Installation, 'markPlaces' | 'markKeys' | 'installationLife'> & Pick<Runtime, 'clock'>): Promise<string> {
  if (markPlaces.length === 0)
    throw new Error(
      `nothing outside the database holds what was issued: ${UNNOTICED}. Set PAYMESH_MARKS_DIR to a folder on another volume`,
    )
  const record = await installationLife.read()
  const faults: string[] = []
  for (const place of markPlaces) {
    const { marks, answered } = await readMarks([place], record, [WRITTEN_AT], markKeys)
    const writtenAt = marks.get(WRITTEN_AT)?.value
    if (answered.length === 0) faults.push(`${place.name} does not answer, so what is issued is not recorded there`)
    else if (writtenAt === undefined) faults.push(`${place.name} holds nothing yet; is invoices running?`)
    else if (clock.now() - writtenAt > MARKS_AGE_MAX_MS)
      faults.push(`${place.name} was last written at ${new Date(writtenAt).toISOString()}; is invoices running?`)
  }
  if (faults.length > 0) throw new Error(faults.join('; '))
  const names = markPlaces.map(({ name }) => name).join(' and ')
  return `what was issued is recorded in ${names}. If the database and ${names} were all put back to an earlier time together, nobody would notice`
}
