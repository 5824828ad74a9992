import { PaymeshError } from '#shared/contracts/errors.ts'
import type { ExceptionRecord } from '#shared/ports/exceptions.ts'
import type { Uses } from '#shared/usecases/uses.ts'

/**
 * Closes an exception of the installation, which belongs to no workspace and concerns no money, and records who did it. Closing a closed
 * one changes nothing; `isDone`: this operation succeeded before. Throws `NOT_FOUND`, also for one of a workspace: its people decide it.
 */
export async function closeException(
  deps: Uses<'clock' | 'random' | 'exceptions'>,
  input: { readonly id: string; readonly actor: string; readonly isDone: boolean },
): Promise<{ readonly exception: ExceptionRecord; readonly changed: boolean }> {
  const found = await deps.exceptions.findById(input.id)
  if (found === null || found.workspaceId !== null)
    throw new PaymeshError('NOT_FOUND', { message: `Exception ${input.id} not found.` })
  if (found.closedAt !== null || input.isDone) return { exception: found, changed: false }
  const { id: subject, workspaceId, mode, kind } = found
  const at = deps.clock.now()
  const changed = await deps.exceptions.closeAudited(subject, at, at, {
    ...{ id: deps.random.uuid(), at, actor: input.actor, action: 'exception.closed' as const },
    ...{ subject, workspaceId, mode, detail: { kind } },
  })
  return { exception: { ...found, closedAt: at }, changed }
}
