import { PaymeshError } from '#shared/contracts/errors.ts'
import { renewalRefusal } from '#shared/domain/invoice/decide-lock.ts'
import { type AssetLock, activeLock, currentQuote, type Ms, type Quote } from '#shared/domain/invoice/model.ts'
import { formatUnits } from '#shared/domain/money/amount.ts'
import type { Catalog } from '#shared/ports/chain-catalog.ts'
import { ClaimTaken, type Invoice } from '#shared/ports/invoices.ts'
import type { WalletRepository } from '#shared/ports/wallets.ts'
import type { Workspace, WorkspaceRepository } from '#shared/ports/workspaces.ts'
import type { LockOffers } from '#shared/usecases/quotes/lock-offers.ts'
import { type LockRequest, priceLock } from '#shared/usecases/quotes/prepare-lock.ts'
import type { Visitor, VisitorBudget } from '#shared/usecases/quotes/visitor-budget.ts'
import type { RateReader } from '#shared/usecases/rates/read-rate.ts'
import { mayPromise } from '#shared/usecases/wallets/may-receive.ts'
import { requireOpenWorkspace } from '#shared/usecases/workspaces/require-open-workspace.ts'
import { type ApplyDeps, applyInvoiceEvent } from './apply-invoice-event.ts'
import { quoteEnd } from './lock-asset.ts'
import { refusalError } from './refusal-error.ts'

/** Amounts that may turn out to be taken before something must be wrong with their source. */
const CANDIDATES_MAX = 50

/** What a new price needs. */
export interface RenewQuoteDeps extends ApplyDeps {
  readonly workspaces: Pick<WorkspaceRepository, 'findById'>
  readonly catalog: ApplyDeps['catalog'] & Pick<Catalog, 'asset' | 'paymentUri'>
  readonly rates: ApplyDeps['rates'] & Pick<RateReader, 'rateFor'>
  readonly addresses: Pick<LockOffers, 'take'>
  readonly wallets: Pick<WalletRepository, 'findAddresses' | 'findProofs'>
  readonly budget: VisitorBudget
}

/** A payer's wish for a new price. */
export interface RenewQuoteInput {
  readonly invoiceId: string
  readonly opId: string
  readonly visitor: Visitor
}

/** A promise is renewed in its last third or when it is over: nobody collects promises and keeps the best. */
export function isRenewable({ lockedAt, expiresAt }: Pick<Quote, 'lockedAt' | 'expiresAt'>, at: Ms): boolean {
  return expiresAt - at <= (expiresAt - lockedAt) / 3
}

/**
 * Appends a new price promise on the same address and returns the invoice; one whose price still holds is returned
 * unchanged. Where an amount tells invoices apart the new promise claims an amount of its own, and the old one stays
 * reserved; a visitor's draws on the budget again. An address that another workspace proved since gets no new promise. Throws `NOT_FOUND`, `WORKSPACE_SUSPENDED`, `INVALID_STATE`,
 * `NO_WALLET_FOR_ASSET` (`VisitorBudgetSpent`) or `RATES_UNAVAILABLE`.
 */
export async function renewQuote(
  deps: RenewQuoteDeps,
  { invoiceId, opId, visitor }: RenewQuoteInput,
): Promise<Invoice> {
  const invoice = await deps.invoices.findById(invoiceId)
  if (invoice === null) throw new PaymeshError('NOT_FOUND')
  if (invoice.lastOps.some((op) => op.opId === opId)) return invoice
  const workspace = await requireOpenWorkspace(deps, invoice.terms.workspaceId)
  const at = deps.clock.now()
  const lock = activeLock(invoice.state)
  const held = currentQuote(invoice.state)
  const refused = renewalRefusal(invoice.state, at)
  if (lock === null || held === null || refused !== null) throw refusalError(refused ?? 'not_lockable')
  if (!isRenewable(held, at)) return invoice
  await requireControl(deps, invoice, lock)
  for (let candidate = 0; candidate < CANDIDATES_MAX; candidate += 1) {
    const promised = await promise(deps, invoice, workspace, lock, at, visitor)
    try {
      const event = { type: 'quote_renewed', ...promised } as const
      const result = await applyInvoiceEvent(deps, { invoiceId, event, opId })
      if (result.outcome === 'missing') throw new PaymeshError('NOT_FOUND')
      if (result.outcome === 'refused') throw refusalError(result.reason)
      return result.invoice
    } catch (error) {
      if (!(error instanceof ClaimTaken)) throw error
      deps.metrics.count('claim_taken_total', { during: 'renew' })
    }
  }
  throw new Error(`no free amount for invoice ${invoiceId} among ${CANDIDATES_MAX} candidates`)
}

async function requireControl(
  { wallets }: Pick<RenewQuoteDeps, 'wallets'>,
  { terms: { workspaceId, mode } }: Invoice,
  { family, matchKey, asset }: AssetLock,
): Promise<void> {
  if (await mayPromise(wallets, { mode, family, matchKey, workspaceId })) return
  throw new PaymeshError('NO_WALLET_FOR_ASSET', { internal: `address_displaced ${mode}:${asset}` })
}

async function promise(
  deps: RenewQuoteDeps,
  invoice: Invoice,
  workspace: Workspace,
  lock: AssetLock,
  at: Ms,
  visitor: Visitor,
): Promise<{ readonly quote: Quote; readonly claim: string; readonly draws: readonly string[] }> {
  const { mode, fiat } = invoice.terms
  const info = deps.catalog.asset(lock.asset)
  const { arsSeries } = workspace.policy
  const rate = await deps.rates.rateFor({ asset: info.id, fiat: fiat.currency, arsSeries })
  const quoteEndsAt = quoteEnd(invoice, workspace, at)
  const request: LockRequest = { workspace, mode, asset: lock.asset, fiat, at, quoteEndsAt }
  const priced = priceLock(request, info, rate)
  const { claim, amountBase, draws } = await claimFor(deps, lock, invoice, priced.amountBase, { workspace, visitor })
  const amount = formatUnits(amountBase, info.decimals)
  const named = lock.reference === undefined ? {} : { reference: lock.reference }
  const uri = deps.catalog.paymentUri({
    asset: info.id,
    mode,
    address: lock.address,
    amount,
    amountBase,
    ...named,
  })
  return { quote: { ...priced, amountBase, amount, uri }, claim, draws }
}

/** The address is claimed already; an amount on a shared one must be claimed anew. */
async function claimFor(
  deps: RenewQuoteDeps,
  lock: AssetLock,
  { terms: { mode } }: Invoice,
  priceBase: bigint,
  { workspace, visitor }: { readonly workspace: Workspace; readonly visitor: Visitor },
): Promise<{ readonly claim: string; readonly amountBase: bigint; readonly draws: readonly string[] }> {
  if (lock.hold?.kind !== 'amount') return { claim: lock.claim, amountBase: priceBase, draws: [] }
  const { family, matchKey } = lock
  const material = { id: `${mode}:${family}:address:${matchKey}`, mode, family, kind: 'address' } as const
  // Each further amount is one that no other invoice can ask for, so whoever renews for sport draws on the budget.
  const draws = await deps.budget.draw(material, workspace, visitor)
  const { claim, amountBase } = await deps.addresses.take(
    material,
    deps.catalog.asset(lock.asset),
    priceBase,
    workspace.id,
  )
  return { claim, amountBase, draws }
}
