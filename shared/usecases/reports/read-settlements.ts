import { dayBefore, dayIn, dayStarts } from '#shared/contracts/zone-days.ts'
import type { Wallet } from '#shared/db/wallets/wallet-models.ts'
import type { Movement } from '#shared/domain/books/movements.ts'
import type { AssetId, Family, Mode } from '#shared/domain/enumerations.ts'
import type { WatchedAddress } from '#shared/ports/addresses.ts'
import type { Payment } from '#shared/ports/payments.ts'
import {
  type Entry,
  type MovementScope,
  type MovementsDeps,
  readMovements,
} from '#shared/usecases/reports/read-movements.ts'
import type { Uses } from '#shared/usecases/uses.ts'

/** A page of a report ends with the day in which it has read this many movements. */
const PAGE_MOVEMENTS = 20_000

/** Dependencies of settlement reports. */
export type SettlementsDeps = MovementsDeps & Uses<'wallets' | 'catalog'>

/** Whose movements, by days of a time zone, an IANA name. Days are whole: a bound inside one takes in all of it. */
export interface SettlementsScope extends MovementScope {
  readonly zone: string
}

/** What one wallet received of one coin in one day, and what was sent back of it. Sums are exact and signed: a reversal can exceed what came. */
export interface SettlementRow {
  readonly asset: AssetId
  /** Null when no wallet of the workspace holds the addresses any more, and for refunds, which a person sends from any wallet. */
  readonly wallet: Pick<Wallet, 'id' | 'family' | 'kind' | 'createdAt'> | null
  /** Payments that were confirmed. */
  readonly payments: number
  readonly receivedBase: bigint
  /** The parts of it that pay prices, and that are above them. The rest counts towards no invoice. */
  readonly appliedBase: bigint
  readonly excessBase: bigint
  readonly refundedBase: bigint
}

/** A complete day: `2026-11-19`, in the zone of the report. */
export interface SettlementDay {
  readonly day: string
  readonly rows: readonly SettlementRow[]
}

/**
 * What the wallets of a workspace received and what was refunded, by day, newest first; days without movements are left out. What a
 * reorganisation takes back leaves the day on which that happened, so that an earlier day never changes; what a person decides later is
 * applied on the day of the decision. Only one batch of movements is in memory at a time, and a day is yielded once it is complete.
 */
export async function* settlementDays(deps: SettlementsDeps, scope: SettlementsScope): AsyncGenerator<SettlementDay> {
  const { workspaceId, mode, from, to, zone } = scope
  const owned = (await deps.wallets.listWallets(workspaceId)).filter((wallet) => wallet.mode === mode)
  const span = { from: startOfDay(from, 0, zone), to: startOfDay(to === null ? null : to - 1, 1, zone) }
  let day: OpenDay | null = null
  for await (const entries of readMovements(deps, { workspaceId, mode, ...span }, 'newest')) {
    const walletOf = await walletFinder(deps, mode, owned, entries)
    for (const { movement } of entries) {
      const name = dayIn(movement.at, zone)
      if (day !== null && day.day !== name) yield complete(day)
      const current: OpenDay = day !== null && day.day === name ? day : { day: name, rows: new Map() }
      add(current.rows, movement, movement.payment === null ? null : walletOf(movement.payment))
      day = current
    }
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
): Promise<{ readonly days: readonly SettlementDay[]; readonly next: number | null }> {
  const days: SettlementDay[] = []
  let rows = 0
  let payments = 0
  for await (const day of settlementDays(deps, scope)) {
    const last = days.at(-1)
    if (last !== undefined && (rows >= limit || payments >= PAGE_MOVEMENTS)) {
      return { days, next: dayStarts([last.day], scope.zone)[0] ?? null }
    }
    days.push(day)
    rows += day.rows.length
    payments += day.rows.reduce((sum, row) => sum + row.payments, 0)
  }
  return { days, next: null }
}

/** A day whose movements are being added up. */
interface OpenDay {
  readonly day: string
  readonly rows: Map<string, SettlementRow>
}

/** When the day of a moment, or one after it, begins. */
function startOfDay(at: number | null, later: number, zone: string): number | null {
  return at === null ? null : (dayStarts([dayBefore(dayIn(at, zone), -later)], zone)[0] ?? null)
}

function complete({ day, rows }: OpenDay): SettlementDay {
  return { day, rows: [...rows].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, row]) => row) }
}

function add(rows: Map<string, SettlementRow>, movement: Movement, wallet: SettlementRow['wallet']): void {
  const { asset, amountBase, appliedBase, excessBase, kind, refund } = movement
  // No coin moved, and no part of one is worth something else.
  if (kind === 'correction' && refund !== null) return
  const key = `${asset} ${wallet?.id ?? ''}`
  const known = rows.get(key)
  const isRefund = kind === 'refund'
  rows.set(key, {
    asset,
    wallet,
    payments: (known?.payments ?? 0) + (kind === 'receipt' ? 1 : kind === 'reversal' ? -1 : 0),
    receivedBase: (known?.receivedBase ?? 0n) + (isRefund ? 0n : amountBase),
    appliedBase: (known?.appliedBase ?? 0n) + appliedBase,
    excessBase: (known?.excessBase ?? 0n) + excessBase,
    refundedBase: (known?.refundedBase ?? 0n) - (isRefund ? amountBase : 0n),
  })
}

/** Finds the wallet that holds the address of a payment among these entries: the one for its network, otherwise one on the same key or pool. */
export async function walletFinder(
  { wallets, catalog }: Pick<SettlementsDeps, 'wallets' | 'catalog'>,
  mode: Mode,
  owned: readonly Wallet[],
  entries: readonly Entry[],
): Promise<(payment: Pick<Payment, 'asset' | 'network' | 'matchKey'>) => Wallet | null> {
  const keys = new Map<Family, Set<string>>()
  for (const { movement } of entries) {
    if (movement.payment === null) continue
    const { family } = catalog.asset(movement.asset)
    keys.set(family, (keys.get(family) ?? new Set()).add(movement.payment.matchKey))
  }
  const addresses = new Map<string, WatchedAddress>()
  for (const [family, matchKeys] of keys) {
    const found = await wallets.findAddresses(mode, family, [...matchKeys])
    for (const row of found) addresses.set(`${family}:${row.matchKey}`, row)
  }
  return ({ asset, network, matchKey }) => {
    if (asset === null) return null
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
