import type { NodeCosts, ProviderCost, QuotaState } from '#shared/contracts/node-costs.ts'
import { EVERY_NETWORK, type Mode, type NetworkId } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { UsageUnit } from '#shared/domain/nodes/providers.ts'
import type { DayUsage, NodePrices } from '#shared/ports/node-usage.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { startOfDay } from './usage-counter.ts'

const DAY_MS = 86_400_000
/** The pace is that of the last seven days: weekdays differ. */
const PACE_DAYS = 7
/** A pace of less than this says nothing about a month. */
const PACE_MIN_MS = 3_600_000
/** Shares of a quota from which people are warned, and from which it counts as nearly spent. */
const QUOTA_WARN_SHARE = 0.8
const QUOTA_CRITICAL_SHARE = 0.95

/** What reading the cost of nodes needs. */
export type NodeCostDeps = Uses<'clock' | 'nodeUsage'> & {
  readonly nodePrices: NodePrices
}

/** The month of a moment, and when the pace is measured from. */
interface Span {
  readonly now: Ms
  readonly today: Ms
  readonly monthStart: Ms
  readonly monthEnd: Ms
  readonly paceFrom: Ms
}

/** Calls of today and of this month by network and provider, in the order of the specification, with the quotas of the settings. */
export async function nodeCosts({ clock, nodeUsage, nodePrices }: NodeCostDeps): Promise<NodeCosts> {
  const span = spanOf(clock.now())
  const rows = await nodeUsage.since(Math.min(span.monthStart, span.paceFrom))
  const rowsOf = (mode: Mode, network: NetworkId) => rows.filter((row) => row.mode === mode && row.network === network)
  const providers = EVERY_NETWORK.flatMap(({ mode, network }) => {
    const own = rowsOf(mode, network)
    const names = [...new Set(own.map(({ provider }) => provider))].sort()
    return names.map((provider): ProviderCost => {
      const unit = nodePrices.unitOf(mode, network, provider)
      const of = own.filter((row) => row.provider === provider)
      return {
        ...{ mode, network, provider, unit, ...figuresIn(unit, of, span, nodePrices) },
        inQuota: nodePrices.counts(mode, network, provider),
        logRangeMax: nodePrices.logRangeMax(provider),
      }
    })
  })
  const quotas = EVERY_NETWORK.flatMap(({ mode, network }) => {
    const quota = nodePrices.quota(mode, network)
    if (quota === null) return []
    const { unit, perMonth } = quota
    const counted = rowsOf(mode, network).filter(({ provider }) => nodePrices.counts(mode, network, provider))
    const { month, monthEstimate } = figuresIn(unit, counted, span, nodePrices)
    const usedShare = month.units / perMonth
    const level = levelOf(usedShare)
    const state = { mode, network, unit, perMonth, used: month.units, usedShare, monthEstimate, level }
    return [{ ...state, sentence: sentenceOf(state) }]
  })
  return { providers, quotas }
}

function levelOf(usedShare: number): QuotaState['level'] {
  if (usedShare >= QUOTA_CRITICAL_SHARE) return 'critical'
  return usedShare >= QUOTA_WARN_SHARE ? 'warning' : 'ok'
}

function spanOf(now: Ms): Span {
  const at = new Date(now)
  const today = startOfDay(now)
  return {
    now,
    today,
    monthStart: Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), 1),
    monthEnd: Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 1),
    paceFrom: today - (PACE_DAYS - 1) * DAY_MS,
  }
}

/** Sums of the rows in a unit. A row that was counted in another one, as settings had it then, counts by its calls, each at the price of a method that is not listed. */
function figuresIn(
  unit: UsageUnit,
  rows: readonly DayUsage[],
  span: Span,
  prices: NodePrices,
): Pick<ProviderCost, 'today' | 'month' | 'monthEstimate'> {
  const since = (from: Ms) => {
    let [calls, units, bytes] = [0, 0, 0]
    for (const row of rows.filter(({ day }) => day >= from)) {
      calls += row.calls
      units += row.unit === unit ? row.units : row.calls * prices.unitsOf(unit, row.network, 'another')
      bytes += row.bytes
    }
    return { calls, units, bytes }
  }
  const month = since(span.monthStart)
  // The pace is measured from the later of seven days ago and the first counted call.
  const elapsed = span.now - Math.max(span.paceFrom, Math.min(...rows.map(({ firstAt }) => firstAt)))
  const ahead = (since(span.paceFrom).units / elapsed) * (span.monthEnd - span.now)
  const isKnown = elapsed >= PACE_MIN_MS
  const monthEstimate = rows.length === 0 ? 0 : isKnown ? Math.round(month.units + ahead) : null
  return { today: since(span.today), month, monthEstimate }
}

/** The state of a quota for people; null while less than 80 % are used. */
function sentenceOf(state: Omit<QuotaState, 'sentence'>): string | null {
  if (state.level === 'ok') return null
  const { usedShare, perMonth, unit, monthEstimate } = state
  const used = `${Math.floor(usedShare * 100)} % of this month’s ${perMonth.toLocaleString('en')} ${unitName(unit)} are used`
  const ahead =
    monthEstimate === null
      ? ''
      : `; at the present pace the month takes ${Math.ceil((monthEstimate / perMonth) * 100)} %`
  const advice =
    state.level === 'critical'
      ? 'Scanning continues until the provider refuses: add a node, or raise the plan and the quota in PAYMESH_NETWORKS.'
      : 'Plan for another node or a larger plan before the month ends.'
  return `${used}${ahead}. ${advice}`
}

const UNIT_NAMES: Readonly<Record<UsageUnit, string>> = {
  alchemy: 'Alchemy compute units',
  quicknode: 'QuickNode credits',
  infura: 'Infura credits',
  calls: 'calls',
}

/** What a unit is called beside a figure. */
export const unitName = (unit: UsageUnit): string => UNIT_NAMES[unit]

/** The costs of nodes, read at most once in `lifeMs`, and again after a failure. */
export function createCostReader(deps: NodeCostDeps, lifeMs: Ms): () => Promise<NodeCosts> {
  let last: { readonly at: Ms; readonly costs: NodeCosts } | null = null
  return async () => {
    const at = deps.clock.now()
    if (last === null || at - last.at >= lifeMs || at < last.at) last = { at, costs: await nodeCosts(deps) }
    return last.costs
  }
}

/**
 * Whether the quota of a network is nearly used up (95 % of this month's). False without a quota, and when the rows cannot be read: a pace
 * is never slowed down by a guess. At most one read in five minutes.
 */
export function createQuotaWatch(deps: NodeCostDeps, mode: Mode, network: NetworkId): () => Promise<boolean> {
  if (deps.nodePrices.quota(mode, network) === null) return async () => false
  const read = createCostReader(deps, 300_000)
  return async () => {
    const { quotas } = await read().catch(() => ({ quotas: [] }))
    return quotas.some((one) => one.mode === mode && one.network === network && one.level === 'critical')
  }
}
