import { ASSET_IDS, type Mode, type NetworkId, networkOf } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import { type HeldClaim, heldClaims } from '#shared/domain/invoice/quote-window.ts'
import type { Invoice, ReleaseMark } from '#shared/ports/invoices.ts'
import type { Runtime } from '#shared/ports/runtime.ts'
import type { Uses } from '#shared/usecases/uses.ts'

const PAGE = 200

/** Dependencies of ending claims. */
export type ReleaseDeps = Runtime & Uses<'invoices' | 'payments' | 'cursors' | 'catalog'>

/**
 * Ends expired claims on pooled addresses and unique amounts: every scanner that could see money on the
 * address has passed the end by block time, and no payment on it is unconfirmed. An invoice with several addresses gives
 * each one separately. Each release is one compare-and-set; an invoice that changed meanwhile, or is not ready, is checked again
 * the next time. Returns how many invoices released something.
 */
export async function releaseClaims(deps: ReleaseDeps, shouldStop: () => boolean = () => false): Promise<number> {
  const until = deps.clock.now()
  let released = 0
  let after: ReleaseMark | null = null
  do {
    const page: readonly ReleaseMark[] = await deps.invoices.dueForRelease(until, after, PAGE)
    for (const mark of page) {
      if (shouldStop()) return released
      if (await releaseOne(deps, mark.invoiceId, until)) released += 1
    }
    after = page.length < PAGE ? null : (page.at(-1) ?? null)
  } while (after !== null)
  if (released > 0) deps.metrics.count('claims_released_total', {}, released)
  return released
}

async function releaseOne(deps: ReleaseDeps, invoiceId: string, until: Ms): Promise<boolean> {
  const invoice = await deps.invoices.findById(invoiceId)
  if (invoice === null) return false
  const scanned: HeldClaim[] = []
  for (const held of heldClaims(invoice.state)) {
    if (held.dueAt <= until && (await haveSeenAll(deps, invoice.terms.mode, held))) scanned.push(held)
  }
  if (scanned.length === 0) return false
  // Read after the cursors: a payment that a scanner stores from now on was first seen after the end.
  const waiting = await deps.payments.detectedMatchKeys(invoiceId)
  const over = scanned.filter(({ paymentMethods }) => !paymentMethods.some(({ matchKey }) => waiting.has(matchKey)))
  if (over.length === 0) return false
  const state = withReleased(invoice, over, deps.clock.now())
  return deps.invoices.releaseClaims(invoiceId, invoice.state.version, state)
}

/** True when every network on which the address exists and is watched has passed; a live network without a node does not advance. */
async function haveSeenAll(
  deps: Pick<ReleaseDeps, 'cursors' | 'catalog'>,
  mode: Mode,
  { paymentMethods, dueAt }: HeldClaim,
): Promise<boolean> {
  const families = new Set(paymentMethods.map(({ family }) => family))
  const paidOn = new Set(paymentMethods.map(({ network }) => network))
  const networks = new Set<NetworkId>(
    ASSET_IDS.filter((id) => families.has(deps.catalog.asset(id).family)).map(networkOf),
  )
  for (const network of networks) {
    if (deps.catalog.hasNode(network, mode)) {
      const cursor = await deps.cursors.find(mode, network)
      // At addresses without an open invoice balances are looked at up to the last look at those in memory, and not further.
      const { time, looks, skipped } = cursor ?? {}
      if (time === undefined || Math.min(time, looks?.all.time ?? time, skipped?.since ?? time) < dueAt) return false
    } else if (paidOn.has(network) && mode === 'live') return false
  }
  return true
}

function withReleased({ state }: Invoice, over: readonly HeldClaim[], at: Ms): Invoice['state'] {
  const released = new Set(over.flatMap(({ paymentMethods }) => paymentMethods))
  return {
    ...state,
    paymentMethods: state.paymentMethods.map((paymentMethod) =>
      released.has(paymentMethod) && paymentMethod.hold !== undefined
        ? { ...paymentMethod, hold: { ...paymentMethod.hold, releasedAt: at } }
        : paymentMethod,
    ),
  }
}
