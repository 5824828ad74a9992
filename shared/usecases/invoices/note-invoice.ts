import { PaymeshError } from '#shared/contracts/errors.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import { type InvoiceNote, NOTES_MAX } from '#shared/ports/invoice-notes.ts'
import type { Uses } from '#shared/usecases/uses.ts'

/**
 * Adds an operator's note to an invoice, with an audit row that has its author and not its text: audit rows stay, and the text is erased with the
 * customer. Repeating it changes nothing. Returns all notes, oldest first. Throws `NOT_FOUND`, and `INVALID_STATE` when the invoice has
 * `NOTES_MAX` notes.
 */
export async function noteInvoice(
  deps: Uses<'clock' | 'invoices' | 'invoiceNotes'>,
  input: {
    readonly workspaceId: string
    readonly mode: Mode
    readonly invoiceId: string
    readonly opId: string
    readonly actor: string
    readonly text: string
  },
): Promise<readonly InvoiceNote[]> {
  const { workspaceId, mode, invoiceId, opId, actor, text } = input
  if ((await deps.invoices.findInWorkspace(workspaceId, mode, invoiceId)) === null) throw new PaymeshError('NOT_FOUND')
  const at = deps.clock.now()
  const action = 'invoice.note_added' as const
  const audit = { id: `invoice-note:${opId}`, at, actor, action, subject: invoiceId, detail: {} }
  const scope = { workspaceId, mode, invoiceId }
  await deps.invoiceNotes.add(scope, { opId, by: actor, at, text }, { ...audit, workspaceId, mode })
  const notes = await deps.invoiceNotes.list(invoiceId)
  if (!notes.some((note) => note.opId === opId)) {
    throw new PaymeshError('INVALID_STATE', {
      message: `An invoice can have ${NOTES_MAX} notes. No note was added.`,
      details: [{ path: 'text', message: 'there is no room for another note' }],
    })
  }
  return notes
}
