import { invalidState, PaymeshError } from '#shared/contracts/errors.ts'
import { paymentLinkBody } from '#shared/contracts/http/payment-link-create.ts'
import { invalid, validate } from '#shared/contracts/http/validate.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import { formatFiat } from '#shared/domain/money/money.ts'
import type { PaymentLink, PaymentLinkChange } from '#shared/ports/payment-links.ts'
import { changedFirst } from '#shared/usecases/audit/changed-first.ts'
import type { WorkspaceAction } from '#shared/usecases/audit/operator-action.ts'
import { reasonOf } from '#shared/usecases/requests/begin-operation.ts'
import type { Uses } from '#shared/usecases/uses.ts'

/** Dependencies of editing a payment link. */
export type EditPaymentLinkDeps = Uses<'paymentLinks' | 'audits' | 'clock'>

/** All fields that an operator may change, as typed: what is left out is removed. */
export interface PaymentLinkFields {
  readonly title: string
  readonly description?: string | undefined
  /** Of a link with a fixed amount. */
  readonly amount?: string | undefined
  /** Of a link whose payers choose the amount. */
  readonly min_amount?: string | undefined
  readonly max_amount?: string | undefined
}

/** An operator's edit of one link. */
export interface EditPaymentLinkInput extends WorkspaceAction {
  readonly linkId: string
  /** `updatedAt` of the link that the operator saw. */
  readonly version: Ms
  readonly fields: PaymentLinkFields
  readonly limits: Pick<PaymentLinkChange, 'usesMax' | 'expiresAt'>
}

/**
 * Changes title, description, amount and limits of an active link, audited in the same write, if it was last changed at `version`.
 * Invoices keep what they were made with. Currency and kind of amount stay. A limit may be lower than the uses that are held: they stay,
 * and no more are given until enough come back. Throws `NOT_FOUND` for an unknown or foreign link, `VALIDATION_ERROR` with the field, and
 * `INVALID_STATE` for a deactivated link or one that somebody changed first.
 */
export async function editPaymentLink(deps: EditPaymentLinkDeps, input: EditPaymentLinkInput): Promise<void> {
  const { workspaceId, mode, linkId, version, actor } = input
  const link = await deps.paymentLinks.findInWorkspace(workspaceId, mode, linkId)
  if (link === null) throw new PaymeshError('NOT_FOUND')
  const auditId = `payment-link-updated:${workspaceId}:${input.opId}`
  const isDone = () => deps.audits.isRecorded(auditId, linkId)
  if (link.updatedAt !== version && (await isDone())) return
  const now = deps.clock.now()
  const change = readChange(link, input, now)
  // Always greater than the previous version, even if the clock went back.
  const at = Math.max(now, version + 1)
  const detail = { ...describe(link, change), ...reasonOf(input) }
  const row = {
    id: auditId,
    at: now,
    actor,
    action: 'payment_link.updated' as const,
    subject: linkId,
    workspaceId,
    mode,
    detail,
  }
  if (await deps.paymentLinks.update({ workspaceId, mode, id: linkId, version }, change, at, row)) return
  if (await isDone()) return
  const current = await deps.paymentLinks.findInWorkspace(workspaceId, mode, linkId)
  if (current?.status === 'inactive') {
    throw invalidState('This payment link was deactivated. It can no longer be changed; create a new one.')
  }
  throw await changedFirst(deps, { subject: linkId, thing: 'this payment link' })
}

function readChange(
  { currency, amount, expiresAt: end = null }: PaymentLink,
  { fields, limits }: EditPaymentLinkInput,
  now: Ms,
): PaymentLinkChange {
  const kind = amount.kind === 'custom' ? { allow_custom_amount: true } : {}
  const given = Object.entries({ ...fields, currency, ...kind }).filter(([, value]) => value !== undefined)
  const body = validate(paymentLinkBody, Object.fromEntries(given))
  if (body.kind !== 'own') throw new Error('an edit names no product')
  const { usesMax, expiresAt } = limits
  // An end that has come may stay as it is while something else is corrected.
  if (expiresAt !== null && expiresAt !== end && expiresAt <= now)
    throw invalid([{ path: 'expires_at', message: 'must be in the future' }])
  return { usesMax, expiresAt, title: body.title, description: body.description, amount: body.amount }
}

/** The new terms as the audit log shows them. */
function describe({ currency }: PaymentLink, { title, amount, usesMax, expiresAt }: PaymentLinkChange) {
  const text = (minor: bigint | null) => (minor === null ? '' : formatFiat(minor, currency))
  const price = amount.kind === 'fixed' ? text(amount.minor) : `${text(amount.minMinor)}–${text(amount.maxMinor)}`
  const end = expiresAt === null ? null : new Date(expiresAt).toISOString()
  return { title, amount: `${price} ${currency}`, max_uses: usesMax, expires_at: end }
}
