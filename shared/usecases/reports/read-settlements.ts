import type { Wallet } from '#shared/db/wallets/wallet-models.ts'
import type { AssetId, Family, Mode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { WatchedAddress } from '#shared/ports/addresses.ts'
import type { SettledPayment } from '#shared/ports/payment-lookups.ts'
import type { Uses } from '#shared/usecases/uses.ts'

const DAY_MS = 86_400_000
/** Payments held in memory at once. */
const BATCH = 1_000
/** A page of a report ends with the day in which it has read this many payments. */
const PAGE_PAYMENTS = 20_000

/** Dependencies of settlement reports. */
export type SettlementsDeps = Uses<'paymentLookups' | 'wallets' | 'catalog'>

/** Whose payments, confirmed at or after `from` and before `to`; null = without bound. Days are whole: a bound inside one takes in all of it. */
export interface SettlementsScope {
  readonly workspaceId: string
  readonly mode: Mode
  readonly from: Ms | null
  readonly to: Ms | null
}

/** What one wallet received of one coin in one day. */
export interface SettlementRow {
  readonly asset: AssetId
  /** Null when no wallet of the workspace holds the addresses any more. */
  readonly wallet: Pick<Wallet, 'id' | 'family' | 'kind' | 'createdAt'> | null
  /** Payments that are confirmed, and their exact sum in base units. */
  readonly payments: number
  readonly receivedBase: bigint
  /** The part of the sum that counts towards invoices. */
  readonly appliedBase: bigint
}

/** A complete UTC day: `at` is its midnight. */
export interface SettlementDay {
  readonly at: Ms
  readonly rows: readonly SettlementRow[]
}

/**
 * What the wallets of a workspace received, by UTC day of confirmation, newest first; days without payments are left out. Sums are
 * exact and include money that counts towards no invoice. A payment that a reorganisation removes leaves its day until it is
 * confirmed again. Only one batch of payments is in memory at a time, and a day is yielded once it is complete.
 */
export async function* settlementDays(deps: SettlementsDeps, scope: SettlementsScope): AsyncGenerator<SettlementDay> {
  const { workspaceId, mode, from, to } = scope
  const owned = (await deps.wallets.listWallets(workspaceId)).filter((wallet) => wallet.mode === mode)
  const span = { from: from === null ? null : dayOf(from), to: to === null ? null : dayOf(to + DAY_MS - 1) }
  let after: SettledPayment | null = null
  let day: OpenDay | null = null
  for (;;) {
    const batch: readonly SettledPayment[] = await deps.paymentLookups.settled({
      ...{ workspaceId, mode, ...span, after, limit: BATCH },
    })
    const walletOf = await walletFinder(deps, mode, owned, batch)
    for (const payment of batch) {
      const at = dayOf(payment.confirmedAt)
      const current: OpenDay = day !== null && day.at === at ? day : { at, rows: new Map() }
      if (day !== null && day !== current) yield complete(day)
      add(current.rows, payment, walletOf(payment))
      day = current
    }
    if (batch.length < BATCH) break
    after = batch.at(-1) ?? null
  }
  if (day !== null) yield complete(day)
}

/**
 * The newest days of a report, at least one, until they have `limit` rows; `next` is the end of the following page, null on the last.
 * Days are never divided.
 */
export async function readSettlements(
  deps: SettlementsDeps,
  scope: SettlementsScope,
  limit: number,
): Promise<{ readonly days: readonly SettlementDay[]; readonly next: Ms | null }> {
  const days: SettlementDay[] = []
  let rows = 0
  let payments = 0
  for await (const day of settlementDays(deps, scope)) {
    const last = days.at(-1)
    if (last !== undefined && (rows >= limit || payments >= PAGE_PAYMENTS)) return { days, next: last.at }
    days.push(day)
    rows += day.rows.length
    payments += day.rows.reduce((sum, row) => sum + row.payments, 0)
  }
  return { days, next: null }
}

/** A day whose payments are being added up. */
interface OpenDay {
  readonly at: Ms
  readonly rows: Map<string, SettlementRow>
}

/** Midnight, UTC, of the day. */
const dayOf = (at: Ms): Ms => Math.floor(at / DAY_MS) * DAY_MS

function complete({ at, rows }: OpenDay): SettlementDay {
  return { at, rows: [...rows].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, row]) => row) }
}

function add(rows: Map<string, SettlementRow>, payment: SettledPayment, wallet: SettlementRow['wallet']): void {
  const { asset, amountBase, counted } = payment
  const key = `${asset} ${wallet?.id ?? ''}`
  const known = rows.get(key)
  rows.set(key, {
    asset,
    wallet,
    payments: (known?.payments ?? 0) + 1,
    receivedBase: (known?.receivedBase ?? 0n) + amountBase,
    appliedBase: (known?.appliedBase ?? 0n) + (counted ? amountBase : 0n),
  })
}

/** Finds the wallet that holds a payment's address: the one for its network, otherwise one on the same key or pool. */
async function walletFinder(
  { wallets, catalog }: Pick<SettlementsDeps, 'wallets' | 'catalog'>,
  mode: Mode,
  owned: readonly Wallet[],
  batch: readonly SettledPayment[],
): Promise<(payment: SettledPayment) => Wallet | null> {
  const keys = new Map<Family, Set<string>>()
  for (const { asset, matchKey } of batch) {
    const { family } = catalog.asset(asset)
    keys.set(family, (keys.get(family) ?? new Set()).add(matchKey))
  }
  const addresses = new Map<string, WatchedAddress>()
  for (const [family, matchKeys] of keys) {
    const found = await wallets.findAddresses(mode, family, [...matchKeys])
    for (const row of found) addresses.set(`${family}:${row.matchKey}`, row)
  }
  return ({ asset, network, matchKey }) => {
    const { family } = catalog.asset(asset)
    const address = addresses.get(`${family}:${matchKey}`)
    if (address === undefined) return null
    const { materialId, heldBy = [] } = address
    const candidates = owned.filter(
      (wallet) => wallet.family === family && (wallet.materialId === materialId || heldBy.includes(wallet.materialId)),
    )
    return candidates.find(({ networks }) => networks.includes(network)) ?? candidates[0] ?? null
  }
}
