import { PaymeshError } from '#shared/contracts/errors.ts'
import { derivedUuid } from '#shared/usecases/requests/begin-operation.ts'
import { type BulkResolution, type BulkScope, checkBulkDecision, inWords } from './bulk-decision.ts'
import { type DecideDeps, type DecideInput, decideException } from './decide-exception.ts'

/** One decision about several exceptions. */
export interface DecideManyInput extends BulkScope {
  readonly resolution: BulkResolution
  readonly opId: string
  readonly reason: string | null
  /** The operation succeeded before: nothing is changed, and the result says what this operation decided. */
  readonly isDone: boolean
}

/**
 * Decides each exception as `decideException` decides a single one, with its own audit row and under its own id that is derived from the
 * operation's. Those that cannot be decided this way, or that another person decided meanwhile, stay as they are and are returned with the
 * reason. All or nothing only for the second factor: if one acceptance needs a code that this session has not given, `FORBIDDEN_SCOPE` is
 * thrown before anything is changed. Repeating the operation changes nothing that it decided before, also after a crash between two
 * exceptions; it then decides the rest. Every requested exception is in one of the two lists.
 */
export async function decideMany(deps: DecideDeps, input: DecideManyInput) {
  const ids = [...new Set(input.exceptionIds)]
  const refused = new Map<string, string>()
  const open: string[] = []
  for (const id of ids) {
    if (await isDecidedBy(deps, input, id)) continue
    const message = input.isDone ? await messageOfRest(deps, input, id) : await problemOf(deps, input, id)
    if (message === null) open.push(id)
    else refused.set(id, message)
  }
  for (const id of open) {
    try {
      await decideException(deps, singleOf(input, id))
    } catch (error) {
      refused.set(id, messageOf(inWords(error)))
    }
  }
  return {
    done: ids.filter((id) => !refused.has(id)),
    refused: [...refused].map(([id, message]) => ({ id, message })),
  }
}

/** An exception that reopened after this operation decided it is not decided by it again. */
async function isDecidedBy(deps: DecideDeps, input: DecideManyInput, id: string): Promise<boolean> {
  const entry = await deps.decisions.find(input.workspaceId, input.mode, id)
  return entry !== null && entry.resolved?.opId === singleOf(input, id).opId
}

/** Why the exception cannot be decided; null when it can. Throws when this person needs a code first. */
async function problemOf(deps: DecideDeps, input: DecideManyInput, id: string): Promise<string | null> {
  try {
    await checkBulkDecision(deps, singleOf(input, id))
    return null
  } catch (error) {
    if (error instanceof PaymeshError && error.code === 'FORBIDDEN_SCOPE') throw error
    return messageOf(error)
  }
}

/** Why an operation that is over did not decide the exception, as far as that can be told now. */
async function messageOfRest(deps: DecideDeps, input: DecideManyInput, id: string): Promise<string> {
  const problem = await problemOf(deps, { ...input, weigh: async () => null }, id)
  return problem ?? 'This was not decided then. Select it again to decide it.'
}

function singleOf(input: DecideManyInput, exceptionId: string): DecideInput {
  const { workspaceId, mode, resolution, actor, reason, weigh } = input
  const opId = derivedUuid('exception', input.opId, exceptionId)
  return { workspaceId, mode, exceptionId, resolution, opId, actor, reason, weigh }
}

/** Nothing is changed by a decision that throws one of our errors; any other leaves it unknown, and the operation is repeated. */
function messageOf(error: unknown): string {
  if (error instanceof PaymeshError) return error.message
  throw error
}
