import { type ErrorCode, PaymeshError } from '#shared/contracts/errors.ts'
import { ASSET_IDS, type AssetId, type Mode } from '#shared/domain/enumerations.ts'
import { activeLock, type Word } from '#shared/domain/invoice/model.ts'
import { planSimulation, type SimulationScenario } from '#shared/domain/invoice/plan-simulation.ts'
import type { AuditRecord } from '#shared/ports/audit.ts'
import type { Invoice, InvoiceRepository } from '#shared/ports/invoices.ts'
import type { Payment, PaymentRepository } from '#shared/ports/payments.ts'
import { type ApplyInput, applyInvoiceEvent } from './apply-invoice-event.ts'
import { type LockAssetDeps, lockAsset } from './lock-asset.ts'
import { refusalError } from './refusal-error.ts'

/** Simulations of the same invoice at the same time that may beat this one to its key before we give up. */
const ATTEMPTS_MAX = 20

/** What playing a payment needs. */
export interface SimulateDeps extends LockAssetDeps {
  readonly invoices: Pick<InvoiceRepository, 'findById' | 'save' | 'findInWorkspace'>
  readonly payments: Pick<PaymentRepository, 'listByInvoice' | 'markApplied' | 'insertSimulated'>
}

/** Which invoice, in whose name, and what shall happen to it. */
export interface SimulateInput {
  readonly workspaceId: string
  readonly mode: Mode
  readonly invoiceId: string
  readonly scenario: SimulationScenario
  /** Makes a retry after a lost answer find its own payment instead of paying twice. */
  readonly opId: string
  /** The operator who plays it; absent for merchants' programs. */
  readonly word?: Word
}

/**
 * Brings a scenario about on a test invoice and returns it. A simulated payment is stored like a real one and judged by
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
  if (found.state.status === 'new') await lockFirstAsset(deps, input)
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const invoice = await playOnce(deps, input)
    if (invoice !== null) return invoice
    deps.metrics.count('simulation_raced_total')
  }
  throw new Error(`simulation of invoice ${invoiceId} lost ${ATTEMPTS_MAX} races`)
}

/** Null when another simulation stored the payment that this one was about to store. */
async function playOnce(deps: SimulateDeps, input: SimulateInput): Promise<Invoice | null> {
  const { invoiceId, opId } = input
  // Folding first makes the plan see every payment that counts towards the number in the key.
  const { state } = await applied(deps, { invoiceId, event: { type: 'payments_changed' }, opId: null })
  // Asked behind the fold: whatever this operation paid in another process since then has the number that we would take.
  if ((await deps.payments.listByInvoice(invoiceId)).some((payment) => payment.opId === opId)) {
    return applied(deps, { invoiceId, event: { type: 'payments_changed' }, opId })
  }
  const plan = planSimulation(state, input.scenario)
  if (plan.outcome === 'refused') throw refusalError(plan.reason)
  if (plan.outcome === 'expire')
    return applied(deps, { invoiceId, event: { type: 'expiry_simulated', ...input.word }, opId })
  const number = state.ledger.filter((row) => row.simulated).length
  const payment = simulatedPayment(deps, input, activeLock(state), number, plan.amountBase)
  if ((await deps.payments.insertSimulated(payment, simulationAudit(input, payment))) === 'exists') return null
  return applied(deps, { invoiceId, event: { type: 'payments_changed' }, opId })
}

/** The row that is stored with the payment, where a person plays it. */
function simulationAudit(input: SimulateInput, payment: Payment): AuditRecord | undefined {
  const { by, reason } = input.word ?? {}
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

async function lockFirstAsset(deps: SimulateDeps, input: SimulateInput): Promise<void> {
  const { workspaceId, invoiceId } = input
  // One name for every simulation of the invoice: of several at once a single one chooses, and none chooses again.
  const opId = `first-lock:${invoiceId}`
  let worst: PaymeshError | null = null
  for (const asset of ASSET_IDS) {
    try {
      await lockAsset(deps, { workspaceId, invoiceId, asset, opId })
      return
    } catch (error) {
      if (!(error instanceof PaymeshError)) throw error
      if (error.code === 'INVALID_STATE' && (await isLocked(deps, invoiceId))) return
      if (!isUnavailable(error)) throw error
      worst = moreTelling(worst, error)
    }
  }
  throw worst ?? new PaymeshError('NO_WALLET_FOR_ASSET')
}

/** Somebody else, or an earlier try of this operation, chose an asset in the meantime. */
async function isLocked(deps: SimulateDeps, invoiceId: string): Promise<boolean> {
  const invoice = await deps.invoices.findById(invoiceId)
  return invoice !== null && activeLock(invoice.state) !== null
}

const UNAVAILABLE: readonly ErrorCode[] = ['NO_WALLET_FOR_ASSET', 'AMOUNT_BELOW_MINIMUM', 'RATES_UNAVAILABLE']

function isUnavailable(error: PaymeshError): boolean {
  return UNAVAILABLE.includes(error.code)
}

/** Of all assets' refusals the caller is told the one that was nearest to working. */
function moreTelling(known: PaymeshError | null, next: PaymeshError): PaymeshError {
  const rank = (error: PaymeshError) => UNAVAILABLE.indexOf(error.code)
  return known === null || rank(next) > rank(known) ? next : known
}

function simulatedPayment(
  deps: SimulateDeps,
  input: SimulateInput,
  lock: ReturnType<typeof activeLock>,
  number: number,
  amountBase: bigint,
): Payment {
  if (lock === null) throw refusalError('not_simulatable')
  const now = deps.clock.now()
  const asset: AssetId = lock.asset
  return {
    id: deps.random.uuid(),
    key: `sim:${input.invoiceId}:${number}`,
    mode: input.mode,
    network: lock.network,
    asset,
    invoiceId: input.invoiceId,
    workspaceId: input.workspaceId,
    matchKey: lock.matchKey,
    toAddress: lock.address,
    fromAddress: null,
    amountBase,
    txHash: null,
    outputIndex: null,
    contract: null,
    kind: 'simulated',
    state: 'confirmed',
    block: null,
    requiredConfirmations: lock.requiredConfirmations,
    confirmAt: null,
    needsFinality: false,
    spends: [],
    replacedBy: null,
    confirmedAt: now,
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
