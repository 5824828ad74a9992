import { invalidState, PaymeshError } from '#shared/contracts/errors.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import type { ExceptionEntry } from '#shared/ports/exception-decisions.ts'
import type { WeighAcceptance } from '#shared/usecases/payments/attach-payment.ts'
import { checkDecision, type DecideDeps, type DecideInput, waysToAccept } from './decide-exception.ts'

/** Exceptions that one confirmation may decide. */
export const BULK_MAX = 50

/** Decisions that need nothing but a reason: applying money to another invoice needs that invoice, so it is made one by one. */
export const BULK_RESOLUTIONS = ['accepted', 'rejected', 'closed'] as const
export type BulkResolution = (typeof BULK_RESOLUTIONS)[number]

/** The exceptions of a bulk decision, and the person. */
export interface BulkScope {
  readonly workspaceId: string
  readonly mode: Mode
  readonly exceptionIds: readonly string[]
  readonly actor: string
  readonly weigh: WeighAcceptance
}

/** An exception that is not decided, and why, in words for an operator. */
export interface BulkRefusal {
  readonly id: string
  readonly message: string
}

/**
 * Resolves where the decision would be carried out now; see `checkDecision`. Also throws `INVALID_STATE` for a decision that the page of the
 * single exception does not offer, or that needs something to be entered for this very exception.
 */
export async function checkBulkDecision(deps: DecideDeps, input: DecideInput): Promise<void> {
  const entry = await deps.decisions.find(input.workspaceId, input.mode, input.exceptionId)
  if (entry !== null && entry.closedAt === null) requireBulkWay(entry, input)
  try {
    await checkDecision(deps, input)
  } catch (error) {
    throw inWords(error)
  }
}

/** An error of a decision in words that fit a list of exceptions. */
export function inWords(error: unknown): unknown {
  if (!(error instanceof PaymeshError) || error.code !== 'VALIDATION_ERROR') return error
  return new PaymeshError('INVALID_STATE', {
    message: 'The payment is in another coin than the invoice, so its value has to be entered. Decide it individually.',
    cause: error,
  })
}

function requireBulkWay(entry: ExceptionEntry, { resolution }: Pick<DecideInput, 'resolution'>): void {
  if (resolution === 'accepted' && waysToAccept(entry).includes('attached'))
    throw invalidState('The payment belongs to no invoice yet. Decide it individually, and apply it to one.')
}
