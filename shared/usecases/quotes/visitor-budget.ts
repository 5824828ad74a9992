import { createHash } from 'node:crypto'
import { PaymeshError } from '#shared/contracts/errors.ts'
import type { InvoiceRepository } from '#shared/db/invoices/invoice-repository.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import { SLOTS_MAX } from '#shared/domain/money/amount-slot.ts'
import { SCARCE } from '#shared/domain/scarce.ts'
import type { KeyMaterial } from '#shared/ports/key-material.ts'
import type { Runtime } from '#shared/ports/runtime.ts'
import type { Workspace, WorkspacePolicy } from '#shared/ports/workspaces.ts'
import type { Uses } from '#shared/usecases/uses.ts'

/** The most that can be reserved: visitors keep a tenth, otherwise payment links would serve nobody. */
export const RESERVE_PERCENT_MAX = SCARCE.poolAddresses.budget.reservePercentMax
/** Hex digits of a connection's hash in a place: enough for counting, too few to identify anyone. */
const SOURCE_DIGITS = 4
/** Places that are read before all of them are. */
const LOOK_FIRST = 64
const DAY_MS = 86_400_000

/** An anonymous person at a checkout, identified by the network of the request. */
export interface Visitor {
  /** IPv4 address or IPv6 /64, as text; it is never stored. */
  readonly source: string
}

/** Dependencies of counting visitors' claims. */
export type VisitorBudgetDeps = Runtime & Uses<'wallets' | 'invoices' | 'exceptions'>

/** Reserves a share of pools and of unique amounts that unpaid visitors cannot use. */
export interface VisitorBudget {
  /**
   * Two free places, one among all visitors and one of this visitor, for an invoice write that takes an address or amount. Of an
   * extended key, which does not run out, one of this visitor and day; of a sandbox key none. A place is not a claim: the write
   * decides, and a loser draws again. Throws `VisitorBudgetSpent`.
   */
  draw(
    material: Pick<KeyMaterial, 'id' | 'mode' | 'family' | 'kind' | 'sandbox'>,
    workspace: Pick<Workspace, 'id' | 'policy'>,
    visitor: Visitor,
  ): Promise<readonly string[]>
}

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

type DrawArguments = Parameters<VisitorBudget['draw']>

/** Makes the visitor budget of a checkout process; it holds nothing in memory. */
export function createVisitorBudget(deps: VisitorBudgetDeps): VisitorBudget {
  return {
    async draw(material, workspace, visitor) {
      if (material.sandbox) return []
      if (material.kind === 'xpub') return [await keyPlace(deps, material, visitor)]
      const total = material.kind === 'pool' ? await deps.wallets.countHeld(material.id) : Number(SLOTS_MAX)
      const everybody = visitorShare(total, workspace.policy)
      const own = sourceShare(everybody)
      const prefix = `visitor:${material.id}`
      const places = [
        await freePlaceOf(deps, prefix, everybody),
        await freePlaceOf(deps, `${prefix}:${sourceDigits(material.id, visitor)}`, own),
      ] as const
      for (const [scope, place] of [['everybody', places[0]] as const, ['source', places[1]] as const]) {
        if (typeof place === 'string') continue
        deps.metrics.count('visitor_budget_spent_total', { scope, family: material.family, mode: material.mode })
        const held = scope === 'everybody' ? everybody : own
        await warn(deps, [material, workspace, visitor], scope, held, total)
        throw new VisitorBudgetSpent(place.freeAt - deps.clock.now(), `visitors_limited ${scope} ${material.id}`)
      }
      return places.filter((place) => typeof place === 'string')
    },
  }
}

/** A free one of `count` places, searched from a random one on; otherwise when the first one may become free. */
export async function freePlaceOf(
  deps: Pick<VisitorBudgetDeps, 'random' | 'clock'> & { readonly invoices: Pick<InvoiceRepository, 'drawsTaken'> },
  prefix: string,
  count: number,
): Promise<string | { readonly freeAt: Ms }> {
  const start = count === 0 ? 0 : Buffer.from(deps.random.bytes(4)).readUInt32LE(0) % count
  const all = Array.from({ length: count }, (_, index) => `${prefix}:${(start + index) % count}`)
  let freeAt = Number.POSITIVE_INFINITY
  for (const part of [all.slice(0, LOOK_FIRST), all.slice(LOOK_FIRST)]) {
    const taken = await deps.invoices.drawsTaken(part)
    const free = part.find((place) => !taken.has(place))
    if (free !== undefined) return free
    for (const at of taken.values()) freeAt = Math.min(freeAt, at)
  }
  return { freeAt: Number.isFinite(freeAt) ? freeAt : deps.clock.now() + DAY_MS }
}

/** A place of this connection and day: an address of a key never returns, and neither does its place. */
async function keyPlace(
  deps: VisitorBudgetDeps,
  { id, family, mode }: DrawArguments[0],
  visitor: Visitor,
): Promise<string> {
  const day = Math.floor(deps.clock.now() / DAY_MS)
  const prefix = `visitor:${id}:${day}:${sourceDigits(id, visitor)}`
  const place = await freePlaceOf(deps, prefix, SCARCE.keyAddresses.budget.perDay)
  if (typeof place === 'string') return place
  deps.metrics.count('visitor_budget_spent_total', { scope: 'source', family, mode })
  throw new VisitorBudgetSpent((day + 1) * DAY_MS - deps.clock.now(), `visitors_limited source ${id}`)
}

/** Opens at most one exception per day and pool. */
async function warn(
  { clock, exceptions }: VisitorBudgetDeps,
  [{ id, mode, family, kind }, workspace]: DrawArguments,
  scope: 'everybody' | 'source',
  held: number,
  total: number,
): Promise<void> {
  const openedAt = clock.now()
  const what = kind === 'pool' ? `${family} addresses (${mode})` : `amounts on the ${family} address (${mode})`
  const used =
    scope === 'everybody'
      ? `Visitors who have not paid are using all ${held} ${what} available to visitors, of ${total} in total. New visitors have to wait.`
      : `One connection that has not paid is using all ${held} ${what} available to one connection, of ${total} in total. Its visitors have to wait.`
  const percent = workspace.policy.reservePercent
  const advice = kind === 'pool' ? ' If these are real customers, add addresses to the pool.' : ''
  await exceptions.openOnce([
    {
      id: `visitors_limited:${id}:${workspace.id}:${Math.floor(openedAt / DAY_MS)}`,
      kind: 'visitors_limited',
      workspaceId: workspace.id,
      mode,
      invoiceId: null,
      paymentKey: null,
      detail: `${used} ${percent} % are reserved for your own integrations.${advice}`,
      openedAt,
      closedAt: null,
    },
  ])
}
