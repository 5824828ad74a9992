import { invalidState, PaymeshError } from '#shared/contracts/errors.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { Decision } from '#shared/ports/exception-decisions.ts'
import {
  type AttachDeps,
  type AttachInput,
  type Attachment,
  attachPayment,
} from '#shared/usecases/payments/attach-payment.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { beingDecided, DECIDING_MAX_MS, possiblyReturned } from './decide-exception.ts'

/** Dependencies of attaching a payment outside its exception. */
type AttachByHandDeps = AttachDeps & Uses<'decisions'>

/** The attachment, and what the person said about a rejection. */
interface AttachByHandInput extends Omit<AttachInput, 'beforeWrite'> {
  /** The invoice's workspace. */
  readonly workspaceId: string
  /** The person said that the rejected payment was not returned to the customer. */
  readonly notReturned: boolean
}

/**
 * Attaches a payment for a person who does not decide its exception: claims the open exception of the payment just before the write, as
 * `decideException` does, so that a rejection meanwhile is refused. Returns the standing rejection that the person knew of. Throws
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
  invalidState(`${rejectionText(rejection)} No changes were made.`)

/** Who rejected a payment, and when: that person may have returned it to the customer. */
interface Rejection {
  readonly by: string
  readonly at: Ms
}

/** The standing rejection of a payment by a person of this workspace; null without one, and for a payment that is unknown here. */
async function rejectionOf(
  { payments, decisions }: Uses<'payments' | 'decisions'>,
  { workspaceId, paymentId }: { readonly workspaceId: string; readonly paymentId: string },
): Promise<Rejection | null> {
  const payment = await payments.findById(paymentId)
  const decision = payment === null ? null : await decisions.findRejection(workspaceId, payment.key)
  return decision === null ? null : { by: decision.by.replace(/^user:/, ''), at: decision.at }
}

/** Who rejected a payment and when, in words for the person who wants to apply it. */
const rejectionText = ({ by, at }: Rejection): string =>
  `${by} rejected this payment at ${new Date(at).toISOString()}. It may have been returned to the customer.`
