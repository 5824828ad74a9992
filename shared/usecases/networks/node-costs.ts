import { MODES, type Mode, NETWORK_IDS, type NetworkId } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import { BATCH, type UsageUnit } from '#shared/domain/nodes/providers.ts'
import type { NodePrices, NodeUsageRepository } from '#shared/ports/node-usage.ts'
import type { Clock } from '#shared/ports/runtime.ts'
import { startOfDay } from './usage-ledger.ts'

const DAY_MS = 86_400_000
/** The pace is that of the last seven days: weekdays differ. */
const PACE_DAYS = 7
/** A pace of less than this says nothing about a month. */
const PACE_MIN_MS = 3_600_000
/** Shares of a quota from which people are warned, and from which it counts as nearly spent. */
export const QUOTA_WARN_SHARE = 0.8
export const QUOTA_CRITICAL_SHARE = 0.95

/** What reading the cost of nodes needs. */
export interface NodeCostDeps {
  readonly clock: Clock
  readonly nodeUsage: Pick<NodeUsageRepository, 'since'>
  readonly nodePrices: NodePrices
}

/** Calls, and bytes in both directions; `units` by the provider's list, an estimate. */
export interface CostFigures {
  readonly calls: number
  readonly units: number
  readonly bytes: number
}

/** What one provider of one network is asked; days and months are those of UTC. */
export interface ProviderCost {
  readonly mode: Mode
  readonly network: NetworkId
  /** A known provider's name, otherwise host and port. */
  readonly provider: string
  readonly unit: UsageUnit
  /** Whether its calls count against the quota of the network; false without one. */
  readonly inQuota: boolean
  readonly today: CostFigures
  readonly month: CostFigures
  /** Units of the whole month at the pace of the last seven days; null in the first hour after calls were first counted. */
  readonly monthEstimate: number | null
  /** Most blocks that one request for logs may span; null: the provider is unknown. */
  readonly logRangeMax: { readonly free: number | null; readonly paid: number | null } | null
}

/** How much of what a network may cost in this month is used. */
export interface QuotaState {
  readonly mode: Mode
  readonly network: NetworkId
  readonly unit: UsageUnit
  readonly perMonth: number
  readonly used: number
  /** 1 is all of it; more is possible. */
  readonly usedShare: number
  readonly monthEstimate: number | null
  /**
   * `warning` from 80 %, `critical` from 95 %. Scanning never stops because of it: a thrifty scanner takes its slowest safe pace from
   * `critical` on.
   */
  readonly level: 'ok' | 'warning' | 'critical'
}

/** What this installation's nodes cost. */
export interface NodeCosts {
  readonly providers: readonly ProviderCost[]
  /** Of every network whose settings state a quota. */
  readonly quotas: readonly QuotaState[]
}

type UsageRow = Awaited<ReturnType<NodeUsageRepository['since']>>[number]

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
  const networks = MODES.flatMap((mode) => NETWORK_IDS.map((network) => ({ mode, network })))
  const rowsOf = (mode: Mode, network: NetworkId) => rows.filter((row) => row.mode === mode && row.network === network)
  const providers = networks.flatMap(({ mode, network }) => {
    const own = rowsOf(mode, network)
    const names = [...new Set(own.map(({ provider }) => provider))].sort()
    return names.map((provider): ProviderCost => {
      const unit = nodePrices.unitOf(mode, network, provider)
      const of = own.filter((row) => row.provider === provider)
      const units = (row: UsageRow) => row.calls * nodePrices.unitsOf(unit, network, row.method)
      const today = of.filter(({ day }) => day === span.today)
      const month = of.filter(({ day }) => day >= span.monthStart)
      return {
        ...{ mode, network, provider, unit, today: sum(today, units), month: sum(month, units) },
        inQuota: nodePrices.counts(mode, network, provider),
        monthEstimate: estimateMonth(of, units, span),
        logRangeMax: nodePrices.logRangeMax(provider),
      }
    })
  })
  const quotas = networks.flatMap(({ mode, network }) => {
    const quota = nodePrices.quota(mode, network)
    if (quota === null) return []
    const { unit, perMonth } = quota
    const counted = rowsOf(mode, network).filter(({ provider }) => nodePrices.counts(mode, network, provider))
    const units = (row: UsageRow) => row.calls * nodePrices.unitsOf(unit, network, row.method)
    const { units: used } = sum(
      counted.filter(({ day }) => day >= span.monthStart),
      units,
    )
    const usedShare = used / perMonth
    const monthEstimate = estimateMonth(counted, units, span)
    return [{ mode, network, unit, perMonth, used, usedShare, monthEstimate, level: levelOf(usedShare) }]
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

function sum(rows: readonly UsageRow[], unitsOf: (row: UsageRow) => number): CostFigures {
  let [calls, units, bytes] = [0, 0, 0]
  for (const row of rows) {
    if (row.method !== BATCH) calls += row.calls
    units += unitsOf(row)
    bytes += row.requestBytes + row.responseBytes
  }
  return { calls, units, bytes }
}

/** What is used, and for the rest of the month the pace since the later of seven days ago and the first counted call. */
function estimateMonth(rows: readonly UsageRow[], unitsOf: (row: UsageRow) => number, span: Span): number | null {
  const recent = rows.filter(({ day }) => day >= span.paceFrom)
  if (rows.length === 0) return 0
  const from = Math.max(span.paceFrom, Math.min(...rows.map(({ firstAt }) => firstAt)))
  const elapsed = span.now - from
  if (elapsed < PACE_MIN_MS) return null
  const used = sum(
    rows.filter(({ day }) => day >= span.monthStart),
    unitsOf,
  ).units
  return Math.round(used + (sum(recent, unitsOf).units / elapsed) * (span.monthEnd - span.now))
}

/** The state of a quota for people; null while less than 80 % are used. */
export function quotaSentence(state: QuotaState): string | null {
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
