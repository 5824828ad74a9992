import { PaymeshError } from '#shared/contracts/errors.ts'
import type { ExceptionRecord, ExceptionRepository } from '#shared/ports/exceptions.ts'
import type { Clock, Random } from '#shared/ports/runtime.ts'
import { DECIDING_MAX_MS } from './decide-exception.ts'

/** Dependencies of closing an exception. */
export interface CloseExceptionDeps {
  readonly clock: Clock
  readonly random: Random
  readonly exceptions: Pick<ExceptionRepository, 'findById' | 'closeAudited'>
}

/**
 * Closes an exception and records who did it. Only the exception: the money or invoice it is about is unchanged.
 * Closing a closed one changes nothing. Throws `NOT_FOUND`, and `INVALID_STATE` while somebody decides it in the dashboard.
 */
export async function closeException(
  deps: CloseExceptionDeps,
  input: { readonly id: string; readonly dryRun: boolean; readonly actor: string },
): Promise<{ readonly exception: ExceptionRecord; readonly changed: boolean }> {
  const found = await deps.exceptions.findById(input.id)
  if (found === null) throw new PaymeshError('NOT_FOUND', { message: `Exception ${input.id} not found.` })
  if (found.closedAt !== null) return { exception: found, changed: false }
  const at = deps.clock.now()
  const closed = { ...found, closedAt: at }
  if (input.dryRun) return { exception: closed, changed: true }
  const changed = await deps.exceptions.closeAudited(found.id, at, at - DECIDING_MAX_MS, {
    id: deps.random.uuid(),
    at,
    actor: input.actor,
    action: 'exception.closed',
    subject: found.id,
    workspaceId: found.workspaceId,
    mode: found.mode,
    detail: { kind: found.kind, invoice: found.invoiceId, payment: found.paymentKey },
  })
  const isOpen = !changed && (await deps.exceptions.findById(found.id))?.closedAt === null
  if (isOpen)
    throw new PaymeshError('INVALID_STATE', {
      message: 'Somebody is deciding this exception in the dashboard. No changes were made. Try again in a minute.',
    })
  return { exception: closed, changed }
}
