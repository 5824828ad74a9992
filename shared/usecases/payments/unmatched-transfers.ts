import { disputeDetail } from '#shared/contracts/exception-words.ts'
import type { ExceptionKind, Mode, NetworkId } from '#shared/domain/enumerations.ts'
import { formatUnits } from '#shared/domain/money/amount.ts'
import type { Catalog } from '#shared/ports/chain-catalog.ts'
import type { ExceptionRecord, ExceptionRepository } from '#shared/ports/exceptions.ts'
import { otherAmountKey, type Payment, type PaymentRepository, type PaymentSighting } from '#shared/ports/payments.ts'
import type { Clock } from '#shared/ports/runtime.ts'
import { type AddressOwnerDeps, addressOwners } from './address-owners.ts'

/** Entries that are looked at in one step of a healing. */
const HEAL_BATCH = 500

type StrayKind = Extract<ExceptionKind, 'wrong_asset' | 'wrong_network' | 'unmatched'>

/** What telling people of money that nobody asked for needs. */
export interface StrayDeps {
  readonly clock: Clock
  readonly payments: Pick<PaymentRepository, 'findByKeys'>
  readonly exceptions: Pick<ExceptionRepository, 'openOnce' | 'closeGone' | 'strayKeys'>
  readonly wallets: AddressOwnerDeps['wallets']
  readonly catalog: Pick<Catalog, 'asset'>
}

/**
 * One inbox row per stray transfer and workspace, once the transfers are stored; repeating it opens nothing twice. Unmatched
 * money goes to every workspace whose key material owns the address, and to the operators of the installation when there
 * is none. A row that closed by itself opens again; one that a person closed stays closed.
 */
export async function openStrays(deps: StrayDeps, sightings: readonly PaymentSighting[]): Promise<void> {
  const strange = sightings.filter(
    (sighting) => strayKind(sighting) !== null && isWorthReporting(deps.catalog, sighting),
  )
  if (strange.length === 0) return
  const keys = strange.flatMap(({ key, amountBase }) => [key, otherAmountKey(key, amountBase)])
  const stored = new Map((await deps.payments.findByKeys(keys)).map((payment) => [payment.key, payment]))
  const strays = strange.flatMap((sighting) => {
    const payment = paymentOf(stored, sighting)
    // Scanned once more after its claim ended, money still belongs to the invoice that it was first seen for.
    const isHeld = sighting.invoiceId === null && payment?.invoiceId !== null
    return payment === undefined || isGone(payment) || isHeld ? [] : [{ ...sighting, key: payment.key }]
  })
  const openedAt = deps.clock.now()
  const candidates = await addressOwners(
    deps,
    strays.filter((sighting) => sighting.workspaceId === null),
  )
  const rows = strays.flatMap((sighting) => {
    const known = sighting.workspaceId === null ? candidates.get(sighting.matchKey) : [sighting.workspaceId]
    const owners = known === undefined || known.length === 0 ? [null] : known
    return owners.map((workspaceId) => exception(deps.catalog, sighting, workspaceId, openedAt))
  })
  if (rows.length > 0) await deps.exceptions.openOnce(rows)
}

/** Closes the rows of stray transfers that were replaced, dropped or taken back: there is nothing left to decide. */
export async function closeStrays(
  deps: Pick<StrayDeps, 'exceptions' | 'clock'>,
  changed: readonly Payment[],
): Promise<void> {
  const gone = changed.filter((payment) => isGone(payment) && strayKind(payment) !== null)
  if (gone.length > 0)
    await deps.exceptions.closeGone(
      gone.map(({ key }) => key),
      deps.clock.now(),
    )
}

/** Closes what a scanner left open that died between taking a stray transfer back and closing its row. */
export async function healStrays(
  deps: Pick<StrayDeps, 'exceptions' | 'clock' | 'payments'>,
  scope: { readonly mode: Mode; readonly network: NetworkId },
): Promise<void> {
  for (let after: string | null = null; ; ) {
    const keys: readonly string[] = await deps.exceptions.strayKeys({ ...scope, after, limit: HEAL_BATCH })
    await closeStrays(deps, await deps.payments.findByKeys(keys))
    after = keys.at(-1) ?? null
    if (after === null || keys.length < HEAL_BATCH) return
  }
}

/** A transfer that moves another amount in another block is stored beside the first one. */
function paymentOf(
  stored: ReadonlyMap<string, Payment>,
  { key, amountBase }: Pick<PaymentSighting, 'key' | 'amountBase'>,
): Payment | undefined {
  const first = stored.get(key)
  return first?.amountBase === amountBase ? first : stored.get(otherAmountKey(key, amountBase))
}

const isGone = ({ state }: Payment): boolean => state !== 'detected' && state !== 'confirmed'

function strayKind({ uncountedReason: reason }: Pick<PaymentSighting, 'uncountedReason'>): StrayKind | null {
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
    detail: `${amount} arrived on ${network} at ${sighting.toAddress} (${txHash === null ? 'seen as a rise of the balance' : `transaction ${txHash}`}).${disputeWords(sighting, workspaceId)}`,
    openedAt,
    closedAt: null,
  }
}

/** A workspace reads the numbers of its own invoices only. */
function disputeWords({ disputed = [] }: PaymentSighting, workspaceId: string | null): string {
  const own = disputed.filter((invoice) => invoice.workspaceId === workspaceId)
  if (own.length === 0) return ''
  const named = own.map(({ number }) => `invoice ${number}`).join(' or ')
  return disputeDetail(named)
}
