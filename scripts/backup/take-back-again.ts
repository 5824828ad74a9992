import { parseJson } from '#shared/contracts/parse-json.ts'
import { isRecorded } from '#shared/db/audit/audited.ts'
import { createRepositories } from '#shared/db/create-repositories.ts'
import { subjectOf } from '#shared/domain/marks/mark-fields.ts'
import { type AuditAction, takesBack } from '#shared/domain/marks/taken-back.ts'
import type { AuditRecord } from '#shared/ports/audit.ts'
import type { Mark } from '#shared/ports/marks.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { TAKEN_BACK_ACTS, type TakenBackDeps, takenBackRow } from './taken-back-acts.ts'

/** What became of one act that took something back after the archive was made. */
export interface TakenBackAgain {
  readonly action: AuditAction
  readonly subject: string
  readonly outcome: 'applied' | 'nothing to change' | 'not in the archive'
  /** What a person has to do about it; null = nothing. */
  readonly advice: string | null
}

export type TakeBackAgainDeps = Omit<TakenBackDeps, 'repositories'> & Uses<'logger'>

/** The audit rows that marks hold of what was taken back, oldest first: numbers of several lives of a database overlap. Throws for a mark whose row cannot be read. */
export function takenBackRows(marks: ReadonlyMap<string, Mark>): readonly AuditRecord[] {
  return [...marks.values()]
    .filter(({ field }) => subjectOf(field)?.kind === 'taken-back')
    .toSorted((one, other) => one.value - other.value)
    .map(({ field, detail }) => {
      const row = takenBackRow.safeParse(parseJson(detail ?? ''))
      if (!row.success || row.data.id !== subjectOf(field)?.id) {
        throw new Error(`the mark ${field} is signed and cannot be read: use the version that wrote it`, {
          cause: row.error,
        })
      }
      return row.data
    })
    .toSorted((one, other) => one.at - other.at)
}

/**
 * Takes back again, in a restored database, what these audit rows took back, in their order; rows that its log has are skipped. What an archive cannot
 * repeat is made safe: a password or factor that was replaced is void, an endpoint whose secret was replaced is paused. Each change is stored
 * with its row, which says `applied_again`. Repeating it changes nothing. Throws for a row without what its act needs.
 */
export async function takeBackAgain(
  deps: TakeBackAgainDeps,
  rows: readonly AuditRecord[],
): Promise<readonly TakenBackAgain[]> {
  const parts = { ...deps, repositories: createRepositories(deps.db, deps) }
  const results: TakenBackAgain[] = []
  for (const row of rows) {
    const { id, action, subject } = row
    if (!takesBack(action) || (await isRecorded(deps.db, id))) continue
    const { isHeld, again, advice, adviceIfMissing } = TAKEN_BACK_ACTS[action]
    if (!(await isHeld(deps.db, row))) {
      results.push({ action, subject, outcome: 'not in the archive', advice: adviceIfMissing?.(row) ?? null })
      continue
    }
    await again(parts, { ...row, detail: { ...row.detail, applied_again: true } })
    const isApplied = await isRecorded(deps.db, id)
    results.push({
      action,
      subject,
      outcome: isApplied ? 'applied' : 'nothing to change',
      advice: isApplied ? (advice?.(row) ?? null) : null,
    })
  }
  return results
}
