import type { InvoiceDocument, OutboxDocument, PaymentMethodDocument } from '#shared/db/invoices/invoice-model.ts'
import type { CursorDocument } from '#shared/db/scanning/cursor-model.ts'
import { must } from '../kernel/violation.ts'
import type { Doc } from '../store/bson-values.ts'
import { isWired } from '../wire/wire-client.ts'
import type { SimChain } from '../world/chain.ts'
import { isSkipped } from '../world/dropped.ts'
import type { Sim } from '../world/sim.ts'
import { isStored } from '../world/thrifty-due.ts'

/** The longest life of a price, and how far it may be from the market. */
const RATE_LIFE_MS = 120_000 + 1_000
const PRICE_TOLERANCE = 0.04
const SOURCES_MIN = 3
const STEP_BACK_MS = 180_000

/** An outbox entry that was ever saved. */
export interface SavedEntry {
  readonly invoiceId: string
  readonly workspaceId: string
  readonly mode: string
  readonly entry: OutboxDocument
}

/** What the store held and lost, as far as guarantees look back at it. */
export interface History {
  readonly now: number
  /** Every outbox entry ever saved, by its id. */
  readonly published: ReadonlyMap<string, SavedEntry>
  /** When an invoice was created under an idempotency key last. */
  readonly createdUnder: Map<string, number>
  note(invoice: InvoiceDocument, entry: OutboxDocument): void
  hold(place: string, invoiceId: string): void
  release(place: string, invoiceId: string): void
  /** An entry leaves the outbox only when what it asks for is durable. */
  mustBeRelayed(invoice: InvoiceDocument, entry: OutboxDocument): void
  mustBeConfirmed(invoiceId: string, payment: string, version: number): void
  /** An invoice ends only when its chain is known up to its end, however long the chain stands still. */
  mustBeScanned(invoice: InvoiceDocument): void
  /** A promise is made at the market's price, and at a fresh one. */
  mustBePriced(invoice: InvoiceDocument, paymentMethod: PaymentMethodDocument): void
}

/** S4: at its end an invoice has what was sent in time and is not gone, in whatever mempool it waits. */
function mustBeSeen(sim: Sim, chain: SimChain, { invoice, paymentMethod }: Ending): void {
  for (const transfer of sim.book.transfers.values()) {
    const { invoiceId, asset, key, txHash } = transfer
    const tx = chain.sent.get(txHash)
    if (invoiceId !== invoice._id || asset !== paymentMethod.asset || tx === undefined) continue
    if (tx.sentAt > invoice.expiresAt.getTime() || !(chain.mempool.has(txHash) || chain.blockOf(txHash) !== null))
      continue
    must(
      isStored(sim, chain, txHash, key) || (sim.book.released.has(chain.id) && isSkipped(sim, chain, transfer)),
      'S4',
      () => `invoice ${invoice._id} ended at ${invoice.expiresAt.getTime()}, and ${key} of ${tx.sentAt} was not seen`,
    )
  }
}

interface Ending {
  readonly invoice: InvoiceDocument
  readonly paymentMethod: PaymentMethodDocument
}

/** S4: at its end an invoice has what the scanned blocks hold for it. */
function mustBeRead(sim: Sim, chain: SimChain, cursor: CursorDocument, { invoice, paymentMethod }: Ending): void {
  if (chain.hasMempool) mustBeSeen(sim, chain, { invoice, paymentMethod })
  if (chain.hasMempool) return
  const isRead = chain.at(cursor.height)?.hash === cursor.hash
  if (!isRead && !isWired(chain)) return
  for (const transfer of sim.book.transfers.values()) {
    const { invoiceId, asset, key, txHash } = transfer
    if (invoiceId !== invoice._id || asset !== paymentMethod.asset) continue
    const block = chain.blockOf(txHash)
    if (block === null || block.minedAt > invoice.expiresAt.getTime()) continue
    // A node may say that its blocks are later than they are.
    if (!isWired(chain) && block.height > cursor.height) continue
    must(
      isStored(sim, chain, txHash, key) || (sim.book.released.has(chain.id) && isSkipped(sim, chain, transfer)),
      'S4',
      () => `invoice ${invoice._id} ended, and ${key} in block ${block.height} was not seen`,
    )
  }
}

/** An empty history of a seed. */
export function createHistory(sim: () => Sim): History {
  const published = new Map<string, SavedEntry>()
  const held = new Map<string, string>()
  const one = (collection: string, filter: Doc): Doc | undefined =>
    sim().store.collection(collection).find(filter, sim().store.now())[0]
  return {
    get now() {
      return sim().scheduler.now
    },
    published,
    createdUnder: new Map(),
    note(invoice, entry) {
      const { _id: invoiceId, workspaceId, mode } = invoice
      must(!published.has(entry.eventId), 'S9', () => `entry ${entry.eventId} was saved twice`)
      published.set(entry.eventId, { invoiceId, workspaceId, mode, entry })
    },
    hold(place, invoiceId) {
      const holder = held.get(place) ?? invoiceId
      must(holder === invoiceId, 'S6', () => `${place} is held by ${holder} and given to ${invoiceId}`)
      held.set(place, invoiceId)
    },
    release(place, invoiceId) {
      if (held.get(place) === invoiceId) held.delete(place)
    },
    mustBeRelayed(invoice, entry) {
      const { eventId } = entry
      const place = {
        event: 'events',
        mail: 'mails',
        audit: 'audit_log',
        exception: 'exceptions',
        exception_closed: 'exceptions',
      }[entry.kind]
      const id = { event: eventId, mail: `mail:${eventId}`, audit: eventId, exception: '', exception_closed: '' }[
        entry.kind
      ]
      const target = id === '' ? `${entry.type}:${entry.paymentKey ?? invoice._id}` : id
      must(
        one(place, { _id: target }) !== undefined,
        'S9',
        () => `${entry.kind} ${entry.type} (${eventId}) left the outbox and is not in ${place}`,
      )
    },
    mustBeScanned(invoice) {
      const { chains, scheduler } = sim()
      const paymentMethod = invoice.paymentMethods.findLast(({ to }) => to === null)
      const chain = paymentMethod === undefined ? undefined : chains.get(`${invoice.mode}:${paymentMethod.network}`)
      const cursor =
        chain === undefined ? undefined : (one('chain_cursors', { _id: chain.id }) as unknown as CursorDocument)
      // A scanner that steps back at this very moment tells of less than was known when the clock was checked.
      const forked = (chain?.lostBranch?.until ?? 0) + STEP_BACK_MS > scheduler.now
      if (cursor === undefined || forked) return
      // Where unconfirmed transactions are seen, no block says what waits in the mempool.
      const scanned = Math.min(cursor.time.getTime(), cursor.headSeenAt.getTime())
      const atHead = cursor.mode === 'test' ? (cursor.atHeadAt?.getTime() ?? 0) : 0
      // A person may let deadlines pass that nobody read.
      const released = cursor.released?.hash === cursor.hash ? cursor.released.through.getTime() : 0
      const known = cursor.mempoolAt?.getTime() ?? Math.max(scanned, atHead)
      const end = invoice.expiresAt.getTime()
      if (known < end && released >= end) return
      must(known >= end, 'S4', () => `invoice ${invoice._id} ended at ${end}, and its chain is known up to ${known}`)
      if (chain !== undefined && paymentMethod !== undefined)
        mustBeRead(sim(), chain, cursor, { invoice, paymentMethod })
    },
    mustBePriced(invoice, { symbol, quotes, decimals }) {
      const { market } = sim()
      for (const quote of quotes) {
        const at = quote.quotedAt.getTime()
        const age = at - quote.provenance.snapshotAt.getTime()
        must(age <= RATE_LIFE_MS, 'S8', () => `invoice ${invoice._id} was priced with a rate ${age} ms old`)
        const votes = quote.provenance.sources.length
        must(votes >= SOURCES_MIN, 'S8', () => `invoice ${invoice._id} was priced by ${votes} sources`)
        const price = market.priceAt(symbol, at)
        const off = Math.abs(Number(quote.fiatPerAsset) / price - 1)
        must(
          off <= PRICE_TOLERANCE,
          'S8',
          () => `invoice ${invoice._id} was priced at ${quote.fiatPerAsset} instead of ${price}`,
        )
        const due = (Number(invoice.fiat.minor) / 100 / Number(quote.fiatPerAsset)) * 10 ** decimals
        const wanted = Number(quote.rest?.wholeBase ?? quote.amountBase)
        must(wanted >= due * (1 - 1e-9), 'S8', () => `invoice ${invoice._id} asks for ${wanted} instead of ${due}`)
        must(wanted <= due * 1.02 + 20_000, 'S8', () => `invoice ${invoice._id} asks for ${wanted} instead of ${due}`)
      }
    },
    mustBeConfirmed(invoiceId, payment, version) {
      const row = one('payments', { key: payment })
      must(row !== undefined, 'S5', () => `invoice ${invoiceId} counts ${payment}, which is no payment`)
      const moved = Number(row['version']) > version
      must(
        row['state'] === 'confirmed' || moved,
        'S5',
        () => `invoice ${invoiceId} counts ${payment} as confirmed; it is ${String(row['state'])}`,
      )
    },
  }
}
