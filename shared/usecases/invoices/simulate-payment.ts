import { PaymeshError } from '#shared/contracts/errors.ts'
import type { PaymentRepository } from '#shared/db/payments/payment-repository.ts'
import type { AssetId, Mode } from '#shared/domain/enumerations.ts'
import type { Attribution } from '#shared/domain/invoice/invoice-event.ts'
import { activePaymentMethod } from '#shared/domain/invoice/model.ts'
import { planSimulation, type SimulationScenario } from '#shared/domain/invoice/plan-simulation.ts'
import type { AuditRecord } from '#shared/ports/audit.ts'
import type { Invoice } from '#shared/ports/invoices.ts'
import type { Payment } from '#shared/ports/payments.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { type ApplyInput, applyInvoiceEvent } from './apply-invoice-event.ts'
import type { QuoteAssetDeps } from './quote-asset.ts'
import { quoteFirstAsset } from './quote-first-asset.ts'
import { refusalError } from './refusal-error.ts'

/** Concurrent simulations of the same invoice that may take this one's key before it gives up. */
const ATTEMPTS_MAX = 20

/** Dependencies of simulating a payment. */
export type SimulateDeps = QuoteAssetDeps & Uses<'invoices' | 'payments'>

/** The invoice, its workspace, and the scenario to simulate. */
export interface SimulateInput {
  readonly workspaceId: string
  readonly mode: Mode
  readonly invoiceId: string
  readonly scenario: SimulationScenario
  /** Lets a retry after a lost response find its own payment instead of paying twice. */
  readonly opId: string
  /** The operator who simulates it; absent for API calls. */
  readonly attribution?: Attribution
}

/**
 * Simulates a scenario on a test invoice and returns the invoice. A simulated payment is stored like a real one and checked by
 * the same state machine, so it emits the same events. An invoice in `new` first takes the first asset, in the order of
 * the specification, that the workspace can receive and whose minimum the amount meets. Repeating an `opId` changes
 * nothing more. Throws `NOT_FOUND`, `INVALID_STATE`, `NO_WALLET_FOR_ASSET`, `AMOUNT_BELOW_MINIMUM` or `RATES_UNAVAILABLE`.
 */
export async function simulatePayment(deps: SimulateDeps, input: SimulateInput): Promise<Invoice> {
  const { workspaceId, mode, invoiceId, opId } = input
  if (mode !== 'test') throw new PaymeshError('TEST_MODE_ONLY')
  const found = await deps.invoices.findInWorkspace(workspaceId, mode, invoiceId)
  if (found === null) throw new PaymeshError('NOT_FOUND')
  if (found.lastOps.some((op) => op.opId === opId)) return found
  if (found.state.status === 'new') await quoteFirstAsset(deps, input)
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const invoice = await playOnce(deps, input)
    if (invoice !== null) return invoice
    deps.metrics.count('simulation_raced_total')
  }
  throw new Error(`simulation of invoice ${invoiceId} lost ${ATTEMPTS_MAX} races`)
}

/**
 * Confirms the simulated payments of a test invoice that were created as `unconfirmed`, and returns the invoice. Repeating it
 * changes nothing. Throws `NOT_FOUND` and `TEST_MODE_ONLY`.
 */
export async function confirmSimulated(
  deps: SimulateDeps & { readonly payments: Pick<PaymentRepository, 'confirmSimulated'> },
  { workspaceId, mode, invoiceId }: Pick<SimulateInput, 'workspaceId' | 'mode' | 'invoiceId'>,
): Promise<Invoice> {
  if (mode !== 'test') throw new PaymeshError('TEST_MODE_ONLY')
  if ((await deps.invoices.findInWorkspace(workspaceId, mode, invoiceId)) === null) throw new PaymeshError('NOT_FOUND')
  await deps.payments.confirmSimulated(invoiceId, deps.clock.now())
  return applied(deps, { invoiceId, event: { type: 'payments_changed' }, opId: null })
}

/** Null when another simulation stored the payment that this one was about to store. */
async function playOnce(deps: SimulateDeps, input: SimulateInput): Promise<Invoice | null> {
  const { invoiceId, opId } = input
  // Folding first lets the plan include every payment that counts towards the number in the key.
  const { state } = await applied(deps, { invoiceId, event: { type: 'payments_changed' }, opId: null })
  // Read after the fold: a payment that this operation stored in another process since then has the number that this run would take.
  if (await deps.payments.hasSimulated(invoiceId, opId)) {
    return applied(deps, { invoiceId, event: { type: 'payments_changed' }, opId })
  }
  const plan = planSimulation(state, input.scenario)
  if (plan.outcome === 'refused') throw refusalError(plan.reason)
  if (plan.outcome === 'expire')
    return applied(deps, { invoiceId, event: { type: 'expiry_simulated', ...input.attribution }, opId })
  const number = state.ledger.filter((row) => row.simulated).length
  const payment = simulatedPayment(deps, input, activePaymentMethod(state), number, plan.amountBase)
  if ((await deps.payments.insertSimulated(payment, simulationAudit(input, payment))) === 'exists') return null
  return applied(deps, { invoiceId, event: { type: 'payments_changed' }, opId })
}

/** The row that is stored with the payment when an operator simulates it. */
function simulationAudit(input: SimulateInput, payment: Payment): AuditRecord | undefined {
  const { by, reason } = input.attribution ?? {}
  if (by === undefined) return undefined
  return {
    id: `simulated:${payment.id}`,
    at: payment.createdAt,
    actor: by,
    action: 'invoice.payment_simulated',
    subject: input.invoiceId,
    workspaceId: input.workspaceId,
    mode: input.mode,
    detail: { scenario: input.scenario, payment: payment.key, ...(reason !== undefined && { reason }) },
  }
}

async function applied(deps: SimulateDeps, input: ApplyInput): Promise<Invoice> {
  const result = await applyInvoiceEvent(deps, input)
  if (result.outcome === 'missing') throw new PaymeshError('NOT_FOUND')
  if (result.outcome === 'refused') throw refusalError(result.reason)
  return result.invoice
}

function simulatedPayment(
  deps: SimulateDeps,
  input: SimulateInput,
  paymentMethod: ReturnType<typeof activePaymentMethod>,
  number: number,
  amountBase: bigint,
): Payment {
  if (paymentMethod === null) throw refusalError('not_simulatable')
  const now = deps.clock.now()
  const asset: AssetId = paymentMethod.asset
  const isConfirmed = input.scenario !== 'unconfirmed'
  return {
    id: deps.random.uuid(),
    key: `sim:${input.invoiceId}:${number}`,
    mode: input.mode,
    network: paymentMethod.network,
    asset,
    invoiceId: input.invoiceId,
    workspaceId: input.workspaceId,
    matchKey: paymentMethod.matchKey,
    toAddress: paymentMethod.address,
    fromAddress: null,
    amountBase,
    txHash: null,
    outputIndex: null,
    contract: null,
    kind: 'simulated',
    state: isConfirmed ? 'confirmed' : 'detected',
    block: null,
    requiredConfirmations: paymentMethod.requiredConfirmations,
    confirmAt: null,
    needsFinality: false,
    spends: [],
    replacedBy: null,
    confirmedAt: isConfirmed ? now : null,
    bookedAt: isConfirmed ? [now] : [],
    firstSeenAt: now,
    version: 1,
    dirtyAt: now,
    scanEpoch: 0,
    counted: true,
    uncountedReason: null,
    late: false,
    opId: input.opId,
    createdAt: now,
    updatedAt: now,
  }
}
