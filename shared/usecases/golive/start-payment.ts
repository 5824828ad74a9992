import { PaymeshError } from '#shared/contracts/errors.ts'
import { invoiceCreateBody } from '#shared/contracts/http/invoice-create.ts'
import { validate } from '#shared/contracts/http/validate.ts'
import { type AssetId, networkOf } from '#shared/domain/enumerations.ts'
import type { GoLiveScope } from '#shared/ports/go-live.ts'
import type { Invoice } from '#shared/ports/invoices.ts'
import type { OperatorAction } from '#shared/usecases/audit/operator-action.ts'
import { type CreateByHandDeps, createInvoiceByHand } from '#shared/usecases/invoices/create-invoice-by-hand.ts'
import { bodyFingerprint } from '#shared/usecases/requests/idempotency-scope.ts'
import type { GoLiveDeps } from './go-live-deps.ts'
import { BUILT_IN } from './go-live-items.ts'
import { findItem, store } from './state-go-live.ts'

/** Marks the invoice of a self-payment; its value is the network. Receivers see it in `metadata` and can leave the invoice out of their books. */
const GO_LIVE_METADATA = 'paymesh_go_live'

/**
 * Creates a real invoice for a small payment of one's own on the network of `asset`. Repeating it with the same `opId` returns the
 * same invoice. Throws `NOT_FOUND` for a network on which the workspace does not receive, and every error of creating an invoice.
 */
export async function startGoLivePayment(
  deps: GoLiveDeps & { readonly invoicing: CreateByHandDeps },
  scope: GoLiveScope,
  input: OperatorAction & {
    readonly asset: AssetId
    /** Decimal amount in US dollars. */
    readonly amount: string
    readonly requestId: string
  },
): Promise<{ readonly invoiceId: string }> {
  const network = networkOf(input.asset)
  const { item } = await findItem(deps, scope, `payment:${network}`)
  const workspace = await deps.workspaces.findById(scope.workspaceId)
  if (workspace === null) throw new PaymeshError('NOT_FOUND')
  const body = {
    amount: input.amount,
    currency: 'USD',
    asset: input.asset,
    description: `Go-live test on ${network}`,
    metadata: { [GO_LIVE_METADATA]: network },
  }
  const invoice = await createInvoiceByHand(deps.invoicing, {
    workspace,
    mode: scope.mode,
    body: validate(invoiceCreateBody[scope.mode], body),
    opId: input.opId,
    attribution: { by: input.actor, ...(input.reason !== null && { reason: input.reason }) },
    fingerprint: bodyFingerprint(Buffer.from(JSON.stringify(body), 'utf8')),
    requestId: input.requestId,
  })
  const invoiceId = invoice.terms.id
  const evidence = await receivedWith(deps, scope, invoice, input.asset)
  const result = { item, outcome: 'pending', reason: 'invoice_waits', about: '', ref: invoiceId, evidence } as const
  await store(deps, scope, input, result, { action: 'golive.payment_started', detail: { invoice: invoiceId } })
  return { invoiceId }
}

/** The workspace's key material behind the address that the invoice was given for the asset: a payment proves this one, whatever was added meanwhile. */
async function receivedWith(
  { wallets }: Pick<GoLiveDeps, 'wallets'>,
  { workspaceId, mode }: GoLiveScope,
  { state }: Pick<Invoice, 'state'>,
  asset: AssetId,
): Promise<string> {
  const method = state.locks.find((lock) => lock.asset === asset)
  if (method === undefined) return BUILT_IN
  const [held] = await wallets.findAddresses(mode, method.family, [method.matchKey])
  if (held === undefined) return BUILT_IN
  const own = (await wallets.listWallets(workspaceId)).filter((wallet) => wallet.mode === mode)
  const holders = held.heldBy ?? [held.materialId]
  const newest = own.toSorted((a, b) => b.createdAt - a.createdAt).find((one) => holders.includes(one.materialId))
  return newest?.materialId ?? BUILT_IN
}
