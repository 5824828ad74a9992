import { PaymeshError } from '#shared/contracts/errors.ts'
import type { Decision } from '#shared/ports/exception-decisions.ts'
import {
  type AttachDeps,
  type AttachInput,
  type Attachment,
  attachPayment,
} from '#shared/usecases/payments/attach-payment.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { beingDecided, DECIDING_MAX_MS, possiblyReturned } from './decide-exception.ts'
import { type Rejection, rejectionOf, rejectionText } from './rejected-money.ts'

/** Dependencies of attaching a payment outside its exception. */
export type AttachByHandDeps = AttachDeps & Uses<'decisions'>

/** The attachment, and what the person said about a rejection. */
export interface AttachByHandInput extends Omit<AttachInput, 'beforeWrite'> {
  /** The invoice's workspace. */
  readonly workspaceId: string
  /** The person said that the rejected payment was not returned to the customer. */
  readonly notReturned: boolean
}

/**
 * Attaches a payment for a person who does not decide its exception: claims the open exception of the payment just before the write, as
 * `decideException` does, so that nobody rejects the money meanwhile. Returns the standing rejection that the person knew of. Throws
 * `INVALID_STATE` with nothing changed when the payment was rejected before the write and the person did not say that it was not returned,
 * or while somebody else decides; and with the payment applied, which the message says, when a rejection overtook the write. Also throws
 * all that `attachPayment` throws.
 */
export async function attachByHand(
  deps: AttachByHandDeps,
  input: AttachByHandInput,
): Promise<Attachment & { readonly rejected: Rejection | null }> {
  const rejected = await rejectionOf(deps, input)
  if (rejected !== null && !input.dryRun && !input.notReturned) throw refusal(rejected)
  let claimed: string | null = null
  // One claim for all who give this payment to this invoice: that is one operation.
  const opId = `attach:${input.paymentId}:${input.invoiceId}`
  try {
    const beforeWrite = async (): Promise<void> => {
      claimed = await claimException(deps, input, opId)
      const standing = await rejectionOf(deps, input)
      if (standing !== null && standing.at !== rejected?.at) throw refusal(standing)
    }
    const done = await attachPayment(deps, { ...input, beforeWrite })
    const overtaking = input.dryRun ? null : await rejectionOf(deps, input)
    if (overtaking !== null && overtaking.at !== rejected?.at) throw possiblyReturned(overtaking.by, 'rejected this')
    if (claimed !== null) await deps.decisions.release(claimed, opId)
    return { ...done, rejected }
  } catch (error) {
    // After an unexpected failure the outcome is unknown: the same application may continue, others wait a minute.
    if (error instanceof PaymeshError && claimed !== null) await deps.decisions.release(claimed, opId)
    throw error
  }
}

/** Claims the open exception about the payment, and returns its id; null when there is none. Throws `INVALID_STATE` while another claim holds. */
async function claimException(deps: AttachByHandDeps, input: AttachByHandInput, opId: string): Promise<string | null> {
  const payment = await deps.payments.findById(input.paymentId)
  const entry = payment === null ? null : await deps.decisions.findOpenByPayment(input.workspaceId, payment.key)
  if (entry === null) return null
  const at = deps.clock.now()
  const decision: Decision = { opId, by: input.actor, at, resolution: 'attached', reason: input.reason ?? null }
  if (await deps.decisions.claim(entry.id, decision, at - DECIDING_MAX_MS)) return entry.id
  const now = payment === null ? null : await deps.decisions.findOpenByPayment(input.workspaceId, payment.key)
  // Decided meanwhile: a rejection is read next.
  if (now === null) return null
  throw beingDecided(now.deciding)
}

const refusal = (rejection: Rejection): PaymeshError =>
  new PaymeshError('INVALID_STATE', { message: `${rejectionText(rejection)} No changes were made.` })
