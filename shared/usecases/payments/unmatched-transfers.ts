import { disputeDetail } from '#shared/contracts/exception-labels.ts'
import type { ExceptionKind, Mode, NetworkId } from '#shared/domain/enumerations.ts'
import { formatUnits } from '#shared/domain/money/money.ts'
import type { Catalog } from '#shared/ports/chain-catalog.ts'
import type { ExceptionRecord } from '#shared/ports/exceptions.ts'
import { keysOfMove, type ObservedTransfer, type Payment, storedMove } from '#shared/ports/payments.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { addressOwners } from './address-owners.ts'

/** Exceptions checked in one repair step. */
const HEAL_BATCH = 500

/** Inbox rows of one invoice, or payments to one address without an invoice, after which small money has one row for all of it: a stranger chooses how often it comes. */
const ROWS_MAX = 100
/** Money is small below so many times its dust. */
const SMALL_DUSTS = 100n

type UnmatchedKind = Extract<ExceptionKind, 'wrong_asset' | 'wrong_network' | 'unmatched'>

/** Dependencies of reporting unmatched money. */
export type UnmatchedDeps = Uses<'clock' | 'payments' | 'exceptions' | 'wallets' | 'catalog'>

/**
 * Opens one exception per unmatched transfer and workspace, once the transfers are stored; repeating it opens nothing twice. Unmatched
 * money is reported to every workspace whose key material owns the address, and to the instance admins when there
 * is none. Small money has one row together where an invoice has a hundred rows, or an address without an invoice a hundred payments. An exception that closed automatically opens again; one that a person closed
 * stays closed.
 */
export async function openUnmatched(deps: UnmatchedDeps, observations: readonly ObservedTransfer[]): Promise<void> {
  const strange = observations.filter(
    (observation) => unmatchedKind(observation) !== null && isWorthReporting(deps.catalog, observation),
  )
  if (strange.length === 0) return
  const keys = strange.flatMap(keysOfMove)
  const stored = new Map((await deps.payments.findByKeys(keys)).map((payment) => [payment.key, payment]))
  const unmatchedTransfers = strange.flatMap((observation) => {
    const payment = storedMove(stored, observation)
    // When scanned again after its claim ended, money still belongs to the invoice that it was first seen for.
    const isHeld = observation.invoiceId === null && payment?.invoiceId !== null
    return payment === undefined || isGone(payment) || isHeld ? [] : [{ ...observation, key: payment.key }]
  })
  const openedAt = deps.clock.now()
  const candidates = await addressOwners(
    deps,
    unmatchedTransfers.filter((observation) => observation.workspaceId === null),
  )
  const found = unmatchedTransfers.flatMap((observation) => {
    const known = observation.workspaceId === null ? candidates.get(observation.matchKey) : [observation.workspaceId]
    const owners = known === undefined || known.length === 0 ? [null] : known
    return owners.map((workspaceId) => {
      const row = exception(deps.catalog, observation, workspaceId, openedAt)
      return { observation, row }
    })
  })
  if (found.length > 0) await deps.exceptions.openOnce(await withinRows(deps, found))
}

/** Closes the exceptions of unmatched transfers that were replaced, dropped or orphaned: no decision is needed any more. */
export async function closeUnmatched(
  deps: Pick<UnmatchedDeps, 'exceptions' | 'clock'>,
  changed: readonly Payment[],
): Promise<void> {
  const gone = changed.filter((payment) => isGone(payment) && unmatchedKind(payment) !== null)
  if (gone.length > 0)
    await deps.exceptions.closeGone(
      gone.map(({ key }) => key),
      deps.clock.now(),
    )
}

/** Closes exceptions left open by a scanner that crashed between orphaning an unmatched transfer and closing its exception. */
export async function healUnmatched(
  deps: Pick<UnmatchedDeps, 'exceptions' | 'clock' | 'payments'>,
  scope: { readonly mode: Mode; readonly network: NetworkId },
): Promise<void> {
  for (let after: string | null = null; ; ) {
    const keys: readonly string[] = await deps.exceptions.unmatchedKeys({ ...scope, after, limit: HEAL_BATCH })
    await closeUnmatched(deps, await deps.payments.findByKeys(keys))
    after = keys.at(-1) ?? null
    if (after === null || keys.length < HEAL_BATCH) return
  }
}

const isGone = ({ state }: Payment): boolean => state !== 'detected' && state !== 'confirmed'

function unmatchedKind({ uncountedReason: reason }: Pick<ObservedTransfer, 'uncountedReason'>): UnmatchedKind | null {
  return reason === 'wrong_asset' || reason === 'wrong_network' || reason === 'unmatched' ? reason : null
}

/** Dust is sent to addresses to spam or to trace them; it is stored, but not reported. */
function isWorthReporting(catalog: TokenCatalog, observation: ObservedTransfer): boolean {
  return observation.amountBase >= (tokenOf(catalog, observation)?.dustBase ?? 0n)
}

/** A transfer, and its row for one of the workspaces that it is reported to. */
interface FoundRow {
  readonly observation: ObservedTransfer
  readonly row: ExceptionRecord
}

/** The rows to open: one for each transfer, and one a month for further small amounts of an invoice or address that has many. What has a row keeps it. */
async function withinRows(deps: UnmatchedDeps, found: readonly FoundRow[]): Promise<readonly ExceptionRecord[]> {
  const known = await deps.exceptions.existing(found.map(({ row }) => row.id))
  const counts = new Map<string, number>()
  const rows: ExceptionRecord[] = []
  for (const { observation, row } of found) {
    const { invoiceId, mode, matchKey, amountBase } = observation
    const isSmall = amountBase < SMALL_DUSTS * (tokenOf(deps.catalog, observation)?.dustBase ?? 0n)
    if (!isSmall || known.has(row.id)) {
      rows.push(row)
      continue
    }
    const holder = invoiceId ?? `${mode}:${matchKey}:${row.workspaceId ?? 'operators'}`
    const count = counts.get(holder) ?? (await countBefore(deps, observation, found))
    counts.set(holder, count + 1)
    rows.push(count < ROWS_MAX ? row : manySmall(observation, row, holder))
  }
  return rows
}

function manySmall({ invoiceId, toAddress }: ObservedTransfer, row: ExceptionRecord, holder: string): ExceptionRecord {
  const detail =
    invoiceId === null
      ? `More than ${ROWS_MAX} payments without an invoice arrived at ${toAddress}. Further small amounts have no entry of their own here: look at this address in a block explorer.`
      : `${ROWS_MAX} entries are about this invoice already. Further small amounts that it does not count have none of their own: look through its payments.`
  const id = `many_payments:${holder}:small:${new Date(row.openedAt).toISOString().slice(0, 7)}`
  return { ...row, id, kind: 'many_payments', paymentKey: null, detail }
}

/** Rows of its invoice, or payments to its address that no invoice holds, without those of now. */
async function countBefore(
  { exceptions, payments }: UnmatchedDeps,
  { invoiceId, mode, matchKey }: ObservedTransfer,
  found: readonly FoundRow[],
): Promise<number> {
  if (invoiceId !== null) return (await exceptions.listByInvoice(invoiceId)).length
  const now = new Set(found.map(({ observation }) => observation.key))
  const stored = await payments.listUnheld(mode, [matchKey], ROWS_MAX + now.size)
  return stored.filter(({ key }) => !now.has(key)).length
}

type TokenCatalog = Pick<Catalog, 'asset' | 'sibling'>

const tokenOf = (catalog: TokenCatalog, { asset, network, contract }: ObservedTransfer) =>
  asset === null ? catalog.sibling(network, contract ?? '') : catalog.asset(asset)

function exception(
  catalog: TokenCatalog,
  observation: ObservedTransfer,
  workspaceId: string | null,
  openedAt: number,
): ExceptionRecord {
  const kind = unmatchedKind(observation) ?? 'unmatched'
  const { asset, amountBase, network, txHash, contract } = observation
  const token = tokenOf(catalog, observation)
  const amount =
    token === null
      ? `${amountBase} base units of token ${contract ?? 'unknown'}`
      : `${formatUnits(amountBase, token.decimals)} ${token.symbol}${asset === null ? ` (token ${contract})` : ''}`
  return {
    id:
      observation.invoiceId === null
        ? `${kind}:${observation.key}:${workspaceId ?? 'operators'}`
        : `${kind}:${observation.key}`,
    kind,
    workspaceId,
    mode: observation.mode,
    invoiceId: observation.invoiceId,
    paymentKey: observation.key,
    detail: `${amount} arrived on ${network} at ${observation.toAddress} (${txHash === null ? 'detected as a balance increase' : `transaction ${txHash}`}).${disputeText(observation, workspaceId)}`,
    openedAt,
    closedAt: null,
  }
}

/** A workspace may see only the numbers of its own invoices. */
function disputeText({ disputed = [] }: ObservedTransfer, workspaceId: string | null): string {
  const own = disputed.filter((invoice) => invoice.workspaceId === workspaceId)
  if (own.length === 0) return ''
  const named = own.map(({ number }) => `invoice ${number}`).join(' or ')
  return disputeDetail(named)
}
