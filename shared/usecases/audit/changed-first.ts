import { invalidState, type PaymeshError } from '#shared/contracts/errors.ts'
import type { AuditRepository } from '#shared/db/audit/audit-repository.ts'

/**
 * The refusal of a change that was made from an older version: names who changed the subject last, and when. `thing` is the subject in
 * words: "this product".
 */
export async function changedFirst(
  { audits }: { readonly audits: Pick<AuditRepository, 'newestOf'> },
  { subject, thing }: { readonly subject: string; readonly thing: string },
): Promise<PaymeshError> {
  const last = await audits.newestOf(subject)
  const who = last === null ? 'Somebody' : last.actor.replace(/^user:/, '')
  const when = last === null ? '' : ` at ${new Date(last.at).toISOString()}`
  return invalidState(
    `${who} changed ${thing}${when}. Your changes were not saved. Compare them with the current values and save again.`,
  )
}
