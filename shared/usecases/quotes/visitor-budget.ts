import { createHash } from 'node:crypto'
import { PaymeshError } from '#shared/contracts/errors.ts'
import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import { type Ms, WATCH_PLACE } from '#shared/domain/invoice/model.ts'
import { SLOTS_MAX } from '#shared/domain/money/amount-slot.ts'
import { SCARCE } from '#shared/domain/scarce.ts'
import type { KeyMaterial } from '#shared/ports/key-material.ts'
import type { NodePrices } from '#shared/ports/node-usage.ts'
import type { Runtime } from '#shared/ports/runtime.ts'
import type { Workspace, WorkspacePolicy } from '#shared/ports/workspaces.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { createPlaceLeases, type PlaceLease } from './place-leases.ts'

/** The most that can be reserved: visitors keep a tenth, otherwise payment links would serve nobody. */
export const RESERVE_PERCENT_MAX = SCARCE.poolAddresses.budget.reservePercentMax
/** Hex digits of a connection's hash in a place: enough for counting, too few to identify anyone. */
const SOURCE_DIGITS = 4
const DAY_MS = 86_400_000

/** An anonymous person at a checkout, identified by the network of the request. */
export interface Visitor {
  /** IPv4 address or IPv6 /64, as text; it is never stored. */
  readonly source: string
}

/** Dependencies of counting visitors' claims and watches. */
export type VisitorBudgetDeps = Runtime & VisitorWatchesDeps & Uses<'wallets' | 'invoices' | 'exceptions'>

/** What an invoice takes for a visitor. */
export interface VisitorTakes {
  /** The wallet that is paid into. */
  readonly material: Pick<KeyMaterial, 'id' | 'mode' | 'family' | 'kind' | 'sandbox'>
  readonly workspace: Pick<Workspace, 'id' | 'policy'>
  readonly visitor: Visitor
  /** Whether an address or amount of the wallet is taken; false for one that the invoice has. */
  readonly claims: boolean
  /** The network that begins to watch for the invoice; null where it does so already. */
  readonly network: NetworkId | null
}

/** Free places for one invoice write. */
export interface VisitorPlaces {
  /** Of the address or amount. */
  readonly claim: readonly string[]
  /** Of the open watch on a network. */
  readonly watch: readonly string[]
  /** To be called when the write is over, or will not be made. May be repeated. */
  end(): void
}

/** Of what takes nothing. */
export const NO_PLACES: VisitorPlaces = { claim: [], watch: [], end: () => undefined }

/** Reserves a share of pools, of unique amounts and of the nodes' work that unpaid visitors cannot use. */
export type VisitorBudget = ReturnType<typeof createVisitorBudget>

/** No place is free: the payer chooses another coin or retries after `retryAfter` seconds. */
export class VisitorBudgetSpent extends PaymeshError {
  readonly retryAfter: number

  constructor(waitMs: Ms, internal: string) {
    const minutes = Math.max(1, Math.ceil(waitMs / 60_000))
    super('NO_WALLET_FOR_ASSET', {
      message: `This coin has no free address right now. Choose another coin or try again in ${minutes} minutes.`,
      internal,
    })
    this.retryAfter = minutes * 60
  }
}

/** How many of `total` visitors may take; the reserve is rounded down, so that a single address serves them as well. */
export function visitorShare(total: number, policy: Pick<WorkspacePolicy, 'reservePercent'>): number {
  return total - Math.floor((total * policy.reservePercent) / 100)
}

/** How many of the places of all visitors one connection may take: at least two, if available, because a household is one connection. */
export function sourceShare(everybody: number): number {
  const { part, min } = SCARCE.poolAddresses.budget
  return Math.min(everybody, Math.max(min, Math.floor(everybody / part)))
}

/** The part of a place that stands for a connection in one scope: enough digits for counting, too few to identify anyone. */
export function sourceDigits(scope: string, { source }: Visitor): string {
  return createHash('sha256').update(`${scope} ${source}`).digest('hex').slice(0, SOURCE_DIGITS)
}

/** Numbered places of which a write takes one. */
interface Share {
  readonly of: 'claim' | 'watch'
  readonly scope: 'everybody' | 'source'
  readonly prefix: string
  readonly count: number
  /** When a place is free again, where no place of the share has an end. */
  readonly freeAt?: Ms
  /** What the merchant reads when it is used up; absent for what only concerns one connection's day. */
  readonly warning?: string
}

/**
 * Makes the visitor budget of a checkout process; in memory it has only the places of writes under way. A connection's own places come first: so
 * its requests of one moment never hold more of everybody's than it may have.
 */
export function createVisitorBudget(deps: VisitorBudgetDeps) {
  const places = createPlaceLeases(deps)
  return {
    /**
     * Free places for an invoice write. Of an address or amount: one among all visitors and one of this visitor; of an extended key, which
     * does not run out, one of this visitor and day; of a sandbox key none. Of a watch: one among all visitors of the network's installation and
     * one of this visitor there; none where no node watches. A place is not a claim: the write decides, and a loser draws again. Throws `VisitorBudgetSpent`.
     */
    async draw(takes: VisitorTakes): Promise<VisitorPlaces> {
      const leases: { readonly of: Share['of']; readonly lease: PlaceLease }[] = []
      const end = (): void => {
        for (const { lease } of leases) lease.end()
      }
      try {
        for (const share of [...watchShares(deps, takes), ...(await claimShares(deps, takes))]) {
          const found = await places.take(share.prefix, share.count)
          if ('freeAt' in found) throw await spent(deps, takes, share, share.freeAt ?? found.freeAt)
          leases.push({ of: share.of, lease: found })
        }
      } catch (error) {
        end()
        throw error
      }
      const placesOf = (wanted: Share['of']) => leases.filter(({ of }) => of === wanted).map(({ lease }) => lease.place)
      return { claim: placesOf('claim'), watch: placesOf('watch'), end }
    },
  }
}

function watchShares(deps: VisitorBudgetDeps, takes: VisitorTakes): readonly Share[] {
  const { material, workspace, visitor, network } = takes
  const { mode } = material
  if (network === null || !deps.catalog.hasNode(network, mode)) return []
  const everybody = visitorWatches(deps, mode, network, workspace.policy)
  const own = sourceWatches(everybody)
  const prefix = `${WATCH_PLACE}${mode}:${network}`
  const who = `open payments that visitors who have not paid may have on ${network} (${mode}) at a time`
  const why = 'The operator sets the number with the quota of the nodes.'
  return [
    {
      ...{ of: 'watch', scope: 'source', prefix: `${prefix}:${sourceDigits(prefix, visitor)}`, count: own },
      warning: `One connection is using all ${own} that it may have of the ${everybody} ${who}. Its visitors have to wait. ${why}`,
    },
    {
      ...{ of: 'watch', scope: 'everybody', prefix, count: everybody },
      warning: `All ${everybody} ${who} are in use. New visitors have to wait or choose a coin of another network. ${why}`,
    },
  ]
}

async function claimShares(deps: VisitorBudgetDeps, takes: VisitorTakes): Promise<readonly Share[]> {
  const { material, workspace, visitor, claims } = takes
  const { id, kind, mode, family } = material
  if (!claims || material.sandbox) return []
  const prefix = `visitor:${id}`
  const source = sourceDigits(id, visitor)
  if (kind === 'xpub') {
    // An address of a key never returns, and neither does its place.
    const day = Math.floor(deps.clock.now() / DAY_MS)
    const count = SCARCE.keyAddresses.budget.perDay
    return [{ of: 'claim', scope: 'source', prefix: `${prefix}:${day}:${source}`, count, freeAt: (day + 1) * DAY_MS }]
  }
  const total = kind === 'pool' ? await deps.wallets.countHeld(id) : Number(SLOTS_MAX)
  const everybody = visitorShare(total, workspace.policy)
  const own = sourceShare(everybody)
  const what = kind === 'pool' ? `${family} addresses (${mode})` : `amounts on the ${family} address (${mode})`
  const advice = kind === 'pool' ? ' If these are real customers, add addresses to the pool.' : ''
  const rest = `${workspace.policy.reservePercent} % are reserved for your own integrations.${advice}`
  return [
    {
      ...{ of: 'claim', scope: 'source', prefix: `${prefix}:${source}`, count: own },
      warning: `One connection that has not paid is using all ${own} ${what} available to one connection, of ${total} in total. Its visitors have to wait. ${rest}`,
    },
    {
      ...{ of: 'claim', scope: 'everybody', prefix, count: everybody },
      warning: `Visitors who have not paid are using all ${everybody} ${what} available to visitors, of ${total} in total. New visitors have to wait. ${rest}`,
    },
  ]
}

/** Counts the refusal and opens at most one exception per day, workspace and wallet or network. */
async function spent(
  { clock, exceptions, metrics }: VisitorBudgetDeps,
  { material: { id, family, mode }, workspace, network }: VisitorTakes,
  { of, scope, warning }: Share,
  freeAt: Ms,
): Promise<VisitorBudgetSpent> {
  const openedAt = clock.now()
  const subject = of === 'claim' ? id : `${WATCH_PLACE}${mode}:${network}`
  metrics.count('visitor_budget_spent_total', { of, scope, family, mode })
  if (warning !== undefined) {
    const exception = `visitors_limited:${subject}:${workspace.id}:${Math.floor(openedAt / DAY_MS)}`
    const nothing = { invoiceId: null, paymentKey: null, closedAt: null }
    const row = { id: exception, kind: 'visitors_limited', workspaceId: workspace.id, mode, ...nothing } as const
    await exceptions.openOnce([{ ...row, detail: warning, openedAt }])
  }
  return new VisitorBudgetSpent(freeAt - openedAt, `visitors_limited ${scope} ${subject}`)
}

const MONTH_MS = 30 * 86_400_000

/** Dependencies of the number of visitors' watches. */
export type VisitorWatchesDeps = Uses<'catalog'> & { readonly nodePrices: Pick<NodePrices, 'quota' | 'unitsOf'> }

/**
 * How many watches all visitors together may have open on a network at a time: so many that, were each opened again as soon as it ends for a
 * whole month, they would use half of the quota of a network that is read for open invoices alone. Without a quota, and where every
 * block is read in any case, a fixed number. Quotes of another length change it with them, up to ten times: the sooner they end, the more often each is opened.
 */
export function visitorWatches(
  { catalog, nodePrices }: VisitorWatchesDeps,
  mode: Mode,
  network: NetworkId,
  { quoteMs }: Pick<WorkspacePolicy, 'quoteMs'>,
): number {
  const { total, quotaPercent, callsOfOne, usualMs, longestTimes, min } = SCARCE.openWatches.budget
  const quota = nodePrices.quota(mode, network)
  const isRationed = quota !== null && catalog.scanChoice(network, mode)?.source === 'thrifty'
  const unitsOfOne = quota === null ? 0 : callsOfOne * nodePrices.unitsOf(quota.unit, network, 'eth_call')
  const inMonth = quota === null ? 0 : (quota.perMonth * quotaPercent) / 100 / unitsOfOne
  const places = isRationed ? inMonth / (MONTH_MS / usualMs) : total
  return Math.max(min, Math.floor(places * Math.min(longestTimes, quoteMs / usualMs)))
}

/** How many of them one connection may have. */
export function sourceWatches(everybody: number): number {
  return Math.max(1, Math.floor(everybody / SCARCE.openWatches.budget.part))
}
