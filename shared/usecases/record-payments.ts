import type { ExceptionKind, Mode, NetworkId } from '#shared/domain/enumerations.ts'
import { formatUnits } from '#shared/domain/money/amount.ts'
import { type AttributeDeps, attributeTransfers, familyOf } from './attribute-transfers.ts'
import type { Catalog } from './ports/catalog.ts'
import type { ExceptionRecord, ExceptionRepository } from './ports/events.ts'
import type { Payment, PaymentRepository, PaymentSighting } from './ports/payments.ts'
import { type Ambient, type Kicker, QUEUES } from './ports/runtime.ts'
import type { ScannedBlock } from './ports/scanning.ts'
import type { WalletRepository } from './ports/wallets.ts'

/** What storing a scanner's findings needs. */
export interface RecordDeps extends AttributeDeps, Ambient {
  readonly payments: Pick<PaymentRepository, 'recordSightings' | 'confirmThrough' | 'orphanAbove' | 'orphanStrangers'>
  readonly exceptions: Pick<ExceptionRepository, 'open'>
  readonly wallets: Pick<WalletRepository, 'findAddresses' | 'workspacesUsing'>
  readonly catalog: Pick<Catalog, 'asset' | 'confirmations'>
  readonly kicker: Kicker
}

/** Scanned blocks under a scanner's lease. */
export interface RecordInput {
  readonly mode: Mode
  readonly network: NetworkId
  readonly blocks: readonly ScannedBlock[]
  /** Epoch of the lease; an older one than the stored is refused with `ScannerFenced`. */
  readonly epoch: number
}

/**
 * Stores the transfers of scanned blocks as payments, opens exceptions for money nobody asked for, and wakes the
 * invoices that changed. Everything is durable when it resolves, so the caller moves its cursor afterwards; repeating
 * it changes nothing, and when other blocks stand at these heights by then, it takes back what only the first ones held.
 * Throws `ScannerFenced` when a newer lease holder wrote already. Returns the changed payments.
 */
export async function recordBlockTransfers(deps: RecordDeps, input: RecordInput): Promise<readonly Payment[]> {
  const sightings = await attributeTransfers(deps, input)
  const recorded =
    sightings.length === 0 ? [] : await deps.payments.recordSightings(sightings, input.epoch, deps.clock.now())
  const strays = await strayExceptions(deps, sightings)
  if (strays.length > 0) await deps.exceptions.open(strays)
  report(deps, input.network, 'recorded', recorded)
  const orphaned = await deps.payments.orphanStrangers({ ...input, at: deps.clock.now() })
  report(deps, input.network, 'orphaned', orphaned)
  return [...recorded, ...orphaned]
}

/** Where a scanner stands. */
export interface ChainPosition {
  readonly mode: Mode
  readonly network: NetworkId
  readonly epoch: number
}

/**
 * Confirms what has enough blocks on top as of the committed cursor `height`, takes back what stands in a block that the
 * cursor does not know, and wakes the invoices. Returns what changed.
 */
export async function confirmPayments(
  deps: Pick<RecordDeps, 'payments' | 'kicker' | 'clock' | 'metrics'>,
  input: ChainPosition & { readonly height: number },
): Promise<readonly Payment[]> {
  const changed = await deps.payments.confirmThrough({ ...input, at: deps.clock.now() })
  const orphaned = changed.filter((payment) => payment.state === 'orphaned')
  report(
    deps,
    input.network,
    'confirmed',
    changed.filter((payment) => payment.state !== 'orphaned'),
  )
  report(deps, input.network, 'orphaned', orphaned)
  return changed
}

/** Takes back what stood in blocks above `forkHeight`, and wakes the invoices. Returns what changed. */
export async function orphanPayments(
  deps: Pick<RecordDeps, 'payments' | 'kicker' | 'clock' | 'metrics'>,
  input: ChainPosition & { readonly forkHeight: number; readonly unconfirmedOnly?: boolean },
): Promise<readonly Payment[]> {
  const changed = await deps.payments.orphanAbove({ ...input, at: deps.clock.now() })
  report(deps, input.network, 'orphaned', changed)
  return changed
}

function report(
  deps: Pick<RecordDeps, 'kicker' | 'metrics'>,
  network: NetworkId,
  what: 'recorded' | 'confirmed' | 'orphaned',
  changed: readonly Payment[],
): void {
  if (changed.length === 0) return
  deps.metrics.count(`payments_${what}_total`, { network }, changed.length)
  const invoices = new Set(changed.flatMap((payment) => (payment.invoiceId === null ? [] : [payment.invoiceId])))
  for (const invoiceId of invoices) deps.kicker.kick(QUEUES.invoiceTransitions, invoiceId)
}

/**
 * One inbox row per stray transfer and workspace. Unmatched money goes to every workspace whose key material owns the
 * address, and to the operators of the installation when there is none.
 */
async function strayExceptions(
  deps: RecordDeps,
  sightings: readonly PaymentSighting[],
): Promise<readonly ExceptionRecord[]> {
  const strays = sightings.filter(
    (sighting) => strayKind(sighting) !== null && isWorthReporting(deps.catalog, sighting),
  )
  const openedAt = deps.clock.now()
  const candidates = await possibleOwners(
    deps,
    strays.filter((sighting) => sighting.workspaceId === null),
  )
  return strays.flatMap((sighting) => {
    const known = sighting.workspaceId === null ? candidates.get(sighting.matchKey) : [sighting.workspaceId]
    const owners = known === undefined || known.length === 0 ? [null] : known
    return owners.map((workspaceId) => exception(deps.catalog, sighting, workspaceId, openedAt))
  })
}

/** Workspaces by match key, through the key material that the address was derived from. */
async function possibleOwners(
  deps: RecordDeps,
  unmatched: readonly PaymentSighting[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const [first] = unmatched
  if (first === undefined) return new Map()
  const family = familyOf(deps.catalog, first.network)
  const matchKeys = unmatched.map((sighting) => sighting.matchKey)
  const addresses = await deps.wallets.findAddresses(first.mode, family, matchKeys)
  const byMaterial = new Map<string, readonly string[]>()
  for (const { materialId } of addresses) {
    if (!byMaterial.has(materialId)) byMaterial.set(materialId, await deps.wallets.workspacesUsing(materialId))
  }
  return new Map(addresses.map((address) => [address.matchKey, byMaterial.get(address.materialId) ?? []]))
}

function strayKind(
  sighting: PaymentSighting,
): Extract<ExceptionKind, 'wrong_asset' | 'wrong_network' | 'unmatched'> | null {
  const reason = sighting.uncountedReason
  return reason === 'wrong_asset' || reason === 'wrong_network' || reason === 'unmatched' ? reason : null
}

/** Dust is sent to addresses to spam or to trace them; it is stored, but nobody is bothered with it. */
function isWorthReporting(catalog: Pick<Catalog, 'asset'>, sighting: PaymentSighting): boolean {
  return sighting.asset === null || sighting.amountBase >= catalog.asset(sighting.asset).dustBase
}

function exception(
  catalog: Pick<Catalog, 'asset'>,
  sighting: PaymentSighting,
  workspaceId: string | null,
  openedAt: number,
): ExceptionRecord {
  const kind = strayKind(sighting) ?? 'unmatched'
  const { asset, amountBase, network, txHash } = sighting
  const amount =
    asset === null
      ? `${amountBase} base units of token ${sighting.contract ?? 'unknown'}`
      : `${formatUnits(amountBase, catalog.asset(asset).decimals)} ${catalog.asset(asset).symbol}`
  return {
    id:
      sighting.invoiceId === null ? `${kind}:${sighting.key}:${workspaceId ?? 'operators'}` : `${kind}:${sighting.key}`,
    kind,
    workspaceId,
    mode: sighting.mode,
    invoiceId: sighting.invoiceId,
    paymentKey: sighting.key,
    detail: `${amount} arrived on ${network} at ${sighting.toAddress} (transaction ${txHash}).`,
    openedAt,
    closedAt: null,
  }
}
