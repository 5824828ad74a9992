import { userInfo } from 'node:os'
import type { Random } from '#shared/ports/runtime.ts'
import type { Deed } from '#shared/usecases/audit/deed.ts'

/** Who the audit trail names for a command: `cli:<operating-system user>`. */
export function actorName(): string {
  try {
    return `cli:${userInfo().username}`
  } catch {
    // A container may run as a number that has no name.
    return `cli:${process.getuid?.() ?? 'unknown'}`
  }
}

/** An action of the person at the machine, under an id of its own. */
export function deedByHand({ random }: { readonly random: Pick<Random, 'uuid'> }): Deed {
  return { opId: random.uuid(), actor: actorName(), reason: null }
}
