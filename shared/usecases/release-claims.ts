import { ASSET_IDS, type Mode, type NetworkId, networkOf } from '#shared/domain/enumerations.ts'
import type { AssetLock, Ms } from '#shared/domain/invoice/model.ts'
import type { Catalog } from './ports/catalog.ts'
import type { Invoice, InvoiceRepository, ReleaseMark } from './ports/invoices.ts'
import type { PaymentRepository } from './ports/payments.ts'
import type { Ambient } from './ports/runtime.ts'
import type { CursorRepository } from './ports/scanning.ts'

const PAGE = 200

/** What ending claims needs. */
export interface ReleaseDeps extends Ambient {
  readonly invoices: Pick<InvoiceRepository, 'dueForRelease' | 'findById' | 'releaseClaims'>
  readonly payments: Pick<PaymentRepository, 'listByInvoice'>
  readonly cursors: Pick<CursorRepository, 'find'>
  readonly catalog: Pick<Catalog, 'asset' | 'hasNode'>
}

/**
 * Ends the claims on pooled addresses and unique amounts whose rest is over: every scanner that could see money on the
 * address has passed the end by block time, and no payment of the invoice is unconfirmed. Each release is one
 * compare-and-set; what changed meanwhile, or is not ready, is looked at again the next time. Returns how many
 * invoices were released.
 */
export async function releaseClaims(deps: ReleaseDeps, shouldStop: () => boolean = () => false): Promise<number> {
  const until = deps.clock.now()
  let released = 0
  let after: ReleaseMark | null = null
  do {
    const page: readonly ReleaseMark[] = await deps.invoices.dueForRelease(until, after, PAGE)
    for (const mark of page) {
      if (shouldStop()) return released
      if (await releaseOne(deps, mark)) released += 1
    }
    after = page.length < PAGE ? null : (page.at(-1) ?? null)
  } while (after !== null)
  if (released > 0) deps.metrics.count('claims_released_total', {}, released)
  return released
}

async function releaseOne(deps: ReleaseDeps, { invoiceId, releaseAt }: ReleaseMark): Promise<boolean> {
  const invoice = await deps.invoices.findById(invoiceId)
  if (invoice === null) return false
  const held = invoice.state.locks.filter(({ hold }) => hold !== undefined && hold.releasedAt === null)
  for (const lock of held) {
    if (!(await haveSeenAll(deps, invoice.terms.mode, lock, releaseAt))) return false
  }
  // Asked after the cursors: a payment that a scanner stores from now on was first seen after the end.
  const payments = await deps.payments.listByInvoice(invoiceId)
  if (payments.some(({ state }) => state === 'detected')) return false
  return deps.invoices.releaseClaims(invoiceId, invoice.state.version, withReleased(invoice, deps.clock.now()))
}

/** Every network on which the address exists and is watched; a live network without a node stands still. */
async function haveSeenAll(
  deps: Pick<ReleaseDeps, 'cursors' | 'catalog'>,
  mode: Mode,
  lock: AssetLock,
  time: Ms,
): Promise<boolean> {
  const networks = new Set<NetworkId>(
    ASSET_IDS.filter((id) => deps.catalog.asset(id).family === lock.family).map(networkOf),
  )
  for (const network of networks) {
    if (deps.catalog.hasNode(network, mode)) {
      const cursor = await deps.cursors.find(mode, network)
      if (cursor === null || cursor.time < time) return false
    } else if (network === lock.network && mode === 'live') return false
  }
  return true
}

function withReleased({ state }: Invoice, at: Ms): Invoice['state'] {
  return {
    ...state,
    locks: state.locks.map((lock) =>
      lock.hold === undefined || lock.hold.releasedAt !== null
        ? lock
        : { ...lock, hold: { ...lock.hold, releasedAt: at } },
    ),
  }
}
