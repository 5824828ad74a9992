import { PaymeshError } from '#shared/contracts/errors.ts'
import { type AssetId, type NetworkId, networkOf } from '#shared/domain/enumerations.ts'
import { activePaymentMethod } from '#shared/domain/invoice/model.ts'
import { claimedOf, totals } from '#shared/domain/invoice/totals.ts'
import { formatUnits } from '#shared/domain/money/money.ts'
import type { Catalog } from '#shared/ports/chain-catalog.ts'
import type { ExceptionEntry } from '#shared/ports/exception-decisions.ts'
import { likelyRefund } from '#shared/usecases/refunds/likely-refund.ts'
import {
  BULK_RESOLUTIONS,
  type BulkRefusal,
  type BulkResolution,
  type BulkScope,
  checkBulkDecision,
} from './bulk-decision.ts'
import type { DecideDeps } from './decide-exception.ts'
import { paymentInInbox } from './payment-in-inbox.ts'

/** Dependencies of the preview; it never writes. */
export type PreviewDeps = DecideDeps & { readonly catalog: Pick<Catalog, 'asset'> }

/** The money of one coin on one network. */
export interface CoinSum {
  readonly symbol: string
  readonly network: NetworkId
  /** In units of the coin, exact. */
  readonly amount: string
  /** Exceptions that it is the sum of. */
  readonly count: number
}

/** One decision, if it were confirmed now. */
export interface DecisionPreview {
  readonly resolution: BulkResolution
  /** Ids of the exceptions that it would decide. */
  readonly possible: readonly string[]
  readonly refused: readonly BulkRefusal[]
  /** How many of the possible ones need an authenticator code that this session has not given. */
  readonly needCode: number
  /** The money of the possible ones, by coin; money in an unknown token is in none. */
  readonly sums: readonly CoinSum[]
}

interface Money {
  readonly asset: AssetId
  readonly base: bigint
}

/** The entries that exist, and what each decision would do about all of them. Unknown and foreign ids are refused in the same words. */
export async function previewDecisions(
  deps: PreviewDeps,
  input: BulkScope,
): Promise<{ readonly entries: readonly ExceptionEntry[]; readonly decisions: readonly DecisionPreview[] }> {
  const { workspaceId, mode } = input
  const ids = [...new Set(input.exceptionIds)]
  const found = await Promise.all(ids.map((id) => deps.decisions.find(workspaceId, mode, id)))
  const entries = found.filter((entry) => entry !== null)
  const money = new Map<string, Money>()
  for (const entry of entries) {
    const about = await moneyOf(deps, entry, workspaceId)
    if (about !== null) money.set(entry.id, about)
  }
  const decisions: DecisionPreview[] = []
  for (const resolution of BULK_RESOLUTIONS) decisions.push(await preview(deps, { ...input, ids, resolution, money }))
  return { entries, decisions }
}

async function preview(
  deps: PreviewDeps,
  input: BulkScope & {
    readonly ids: readonly string[]
    readonly resolution: BulkResolution
    readonly money: ReadonlyMap<string, Money>
  },
): Promise<DecisionPreview> {
  const { workspaceId, mode, resolution, actor, weigh, money } = input
  const possible: string[] = []
  const refused: BulkRefusal[] = []
  let needCode = 0
  for (const id of input.ids) {
    const single = { workspaceId, mode, exceptionId: id, resolution, opId: '', actor, reason: null, weigh }
    try {
      await checkBulkDecision(deps, single)
      possible.push(id)
    } catch (error) {
      if (!(error instanceof PaymeshError)) throw error
      if (error.code === 'FORBIDDEN_SCOPE') {
        possible.push(id)
        needCode += 1
      } else refused.push({ id, message: error.message })
    }
  }
  return { resolution, possible, refused, needCode, sums: sumsOf(deps, possible, money) }
}

/** The payment; without one, what the invoice received, or the part above its price where that is the exception; what refunds took is in neither. */
async function moneyOf(deps: PreviewDeps, entry: ExceptionEntry, workspaceId: string): Promise<Money | null> {
  if (entry.paymentKey !== null) {
    const [stored] = await deps.payments.findByKeys([entry.paymentKey])
    if (stored === undefined) return null
    const { asset, amountBase: base } = paymentInInbox(stored, workspaceId)
    return asset === null ? null : { asset, base }
  }
  const invoice = entry.invoiceId === null ? null : await deps.invoices.findById(entry.invoiceId)
  if (invoice === null || invoice.terms.workspaceId !== workspaceId) return null
  const paymentMethod = activePaymentMethod(invoice.state)
  if (paymentMethod === null || (entry.kind !== 'partial' && entry.kind !== 'over')) return null
  const { state } = invoice
  const left = entry.kind === 'over' ? await likelyRefund(deps, invoice) : totals(state).receivedBase - claimedOf(state)
  return { asset: paymentMethod.asset, base: left > 0n ? left : 0n }
}

function sumsOf(deps: PreviewDeps, ids: readonly string[], money: ReadonlyMap<string, Money>): readonly CoinSum[] {
  const sums = new Map<AssetId, { base: bigint; count: number }>()
  for (const id of ids) {
    const about = money.get(id)
    if (about === undefined) continue
    const sum = sums.get(about.asset) ?? { base: 0n, count: 0 }
    sums.set(about.asset, { base: sum.base + about.base, count: sum.count + 1 })
  }
  return [...sums].map(([asset, { base, count }]) => {
    const { symbol, decimals } = deps.catalog.asset(asset)
    return { symbol, network: networkOf(asset), amount: formatUnits(base, decimals), count }
  })
}
