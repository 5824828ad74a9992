import { userInfo } from 'node:os'
import type { Random } from '#shared/ports/runtime.ts'
import type { OperatorAction } from '#shared/usecases/audit/operator-action.ts'

/** The actor of a command in the audit log: `cli:<operating-system user>`. */
export function actorName(): `cli:${string}` {
  try {
    return `cli:${userInfo().username}`
  } catch {
    // A container may run as a user id without a name.
    return `cli:${process.getuid?.() ?? 'unknown'}`
  }
}

/** An action from the command line, under a new id. */
export function manualAction({ random }: { readonly random: Pick<Random, 'uuid'> }): OperatorAction {
  return { opId: random.uuid(), actor: actorName(), reason: null }
}
