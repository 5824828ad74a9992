import type mongoose from 'mongoose'
import type { Database } from '#shared/db/connection/connect.ts'
import { havingBooked } from '#shared/db/connection/moved-stages.ts'
import { scannedPage } from '#shared/db/connection/scanned-page.ts'
import { boundsOf, createdWithin } from '#shared/db/connection/time-bounds.ts'
import { idsCreated } from '#shared/db/connection/uuid-time.ts'
import { INVOICE_STATUSES, type InvoiceStatus } from '#shared/domain/enumerations.ts'
import type { InvoicePageQuery, InvoiceSearch } from '#shared/ports/invoice-lookups.ts'
import type { Invoice } from '#shared/ports/invoices.ts'
import { amountWord, customerKey, invoiceFromDocument, readSearchText, type SearchText } from './invoice-mapping.ts'
import { INVOICES, type InvoiceDocument } from './invoice-model.ts'

type Filter = mongoose.mongo.Filter<InvoiceDocument>
type Invoices = mongoose.mongo.Collection<InvoiceDocument>
type Page = Awaited<ReturnType<InvoiceLookups['page']>>

/** Invoices read for one condition of a search by words; four conditions, of which two are other spellings, read the most that a search may. */
const WORDS_READ_MAX = 48
/** Waiting entries are of no use to a reader, and there may be hundreds. */
const WITHOUT_OUTBOX = { outbox: 0 } as const

/** The dashboard's invoice searches on MongoDB. */
export function createInvoiceLookups(db: Database) {
  const invoices = db.collection(INVOICES)
  return {
    /**
     * At most `limit` invoices and where to continue, null at the end. Filters that no index serves read a bounded number of
     * invoices at a time, so a page may hold fewer, even none, before the end. Outboxes are left out.
     */
    page: (query: InvoicePageQuery): Promise<{ readonly invoices: readonly Invoice[]; readonly next: string | null }> =>
      pageOf(invoices, query),
    /** Invoices of each status, each counted up to `max`; creation bounds as in a page. */
    countByStatus: async (
      {
        workspaceId,
        mode,
        createdFrom,
        createdTo,
      }: Pick<InvoicePageQuery, 'workspaceId' | 'mode' | 'createdFrom' | 'createdTo'>,
      max: number,
    ): Promise<ReadonlyMap<InvoiceStatus, number>> => {
      const ids = idsCreated(createdFrom, createdTo, null)
      const counts = await Promise.all(
        INVOICE_STATUSES.map(async (status) => {
          const filter = { workspaceId, mode, status, ...(ids !== null && { _id: ids }) }
          const count = await invoices.countDocuments(filter, { hint: 'invoice_list_by_status', limit: max })
          return [status, count] as const
        }),
      )
      return new Map(counts)
    },
    /** Those that exist, by id. */
    findMany: async (ids: readonly string[]): Promise<ReadonlyMap<string, Invoice>> => {
      const found = await invoices.find({ _id: { $in: [...ids] } }, { projection: WITHOUT_OUTBOX }).toArray()
      return new Map(found.map((stored) => [stored._id, fromDocument(stored)]))
    },
  }
}

/** The type of what {@link createInvoiceLookups} returns. */
export type InvoiceLookups = ReturnType<typeof createInvoiceLookups>

const fromDocument = (stored: Omit<InvoiceDocument, 'outbox'>) => invoiceFromDocument({ ...stored, outbox: [] })

async function pageOf(invoices: Invoices, query: InvoicePageQuery): Promise<Page> {
  const { search, limit } = query
  if (search?.kind === 'number') return await pageOfNumber(invoices, query, search)
  if (search?.kind === 'text') return await pageOfText(invoices, query, search.text)
  const { page, next } = await scannedPage(
    invoices,
    { filter: pageFilter(query), hint: pageHint(query), sort: pageSort(query), residual: residualStages(query), limit },
    ['outbox'],
  )
  return { invoices: page.map(fromDocument), next }
}

/** One index each, so that neither falls back to a scan of all invoices. */
async function pageOfNumber(
  invoices: Invoices,
  query: InvoicePageQuery,
  { number, orderId }: Extract<InvoiceSearch, { kind: 'number' }>,
): Promise<Page> {
  const byText = await pageOfText(invoices, query, orderId)
  if (query.beforeId !== null) return byText
  const filter = { ...pageFilter({ ...query, search: null }), ...residualFilter(query), number }
  const named = await invoices.findOne(filter, { hint: 'invoice_number' })
  if (named === null) return byText
  const others = byText.invoices.filter(({ terms }) => terms.id !== named._id)
  return { invoices: [fromDocument(named), ...others], next: byText.next }
}

/** Those of the order, and those whose customer or amount the text may name: of these the first few by the words of the index. */
async function pageOfText(invoices: Invoices, query: InvoicePageQuery, text: string): Promise<Page> {
  const { limit } = query
  const { words, respelled, amount } = readSearchText(text)
  const meeting = async (condition: WordCondition) =>
    (await invoices.aggregate<InvoiceDocument>(wordPipeline(query, condition), SEARCHED).toArray()).map(fromDocument)
  const [ofOrder, ...ofWords] = await Promise.all([
    pageOf(invoices, { ...query, search: { kind: 'order', orderId: text } }),
    ...[...nameConditions(words), ...amountConditions(amount)].map(meeting),
  ])
  const found = [...ofOrder.invoices, ...ofWords.flat()]
  for (const condition of respelled.flatMap(nameConditions))
    if (found.length === 0) found.push(...(await meeting(condition)))
  const known = new Map(found.map((invoice) => [invoice.terms.id, invoice]))
  const direction = pageSort(query)._id
  const sorted = [...known.values()].sort((one, other) => (one.terms.id < other.terms.id ? -direction : direction))
  const page = sorted.slice(0, limit)
  const hasMore = sorted.length > limit || ofOrder.next !== null
  return { invoices: page, next: hasMore ? (page.at(-1)?.terms.id ?? null) : null }
}

/** What one search by words reads first, and what else must be true of it. */
interface WordCondition {
  readonly first: Filter
  readonly rest: Filter
}

const SEARCHED = { hint: 'invoice_search' } as const
/** Within both bounds must be one word. */
const startsWith = (word: string) => ({ $elemMatch: { $gte: word, $lt: `${word}\uffff` } })

/** The longest word is the rarest one; the others are checked on what it finds. */
function nameConditions(words: readonly string[]): readonly WordCondition[] {
  const [longest, ...others] = [...words].sort((one, other) => other.length - one.length)
  if (longest === undefined) return []
  const rest = { $and: others.map((word) => ({ searchWords: startsWith(word) })) }
  return [{ first: { searchWords: startsWith(longest) }, rest }]
}

function amountConditions(amount: SearchText['amount']): readonly WordCondition[] {
  if (amount === null) return []
  const { values, currency } = amount
  return [
    {
      first: { searchWords: { $in: values.map(amountWord) } },
      rest: currency === null ? {} : { 'fiat.currency': currency },
    },
  ]
}

/** Reads a bounded number of documents, however many customers share a name; exported for the test that explains it. */
export function wordPipeline(query: InvoicePageQuery, { first, rest }: WordCondition): mongoose.mongo.Document[] {
  const { workspaceId, mode, limit } = query
  const { workspaceId: _workspace, mode: _mode, ...bounds } = pageFilter({ ...query, search: null })
  const conditions = [bounds, residualFilter(query), rest].filter((one) =>
    Object.values(one).some((value) => !Array.isArray(value) || value.length > 0),
  )
  return [
    { $match: { workspaceId, mode, ...first } },
    { $limit: WORDS_READ_MAX },
    ...conditions.map((one) => ({ $match: one })),
    { $sort: pageSort(query) },
    { $limit: limit + 1 },
    { $unset: 'outbox' },
  ]
}

/** The index that serves a page; null where the planner combines several. Exported for the test that explains it. */
export function pageHint({ search, status }: InvoicePageQuery): string | null {
  if (search === null) return status === null ? 'invoice_list' : 'invoice_list_by_status'
  if (search.kind === 'order') return 'invoice_list_by_order'
  return search.kind === 'email' ? 'invoice_list_by_customer' : null
}

/** Ids contain the time of creation. Exported for the test that explains it. */
export const pageSort = ({ order }: InvoicePageQuery): { readonly _id: 1 | -1 } => ({
  _id: order === 'oldest' ? 1 : -1,
})

/** The part of a page's filter that an index serves; exported for the test that explains it. */
export function pageFilter(query: InvoicePageQuery): Filter {
  const { workspaceId, mode, search, status, createdFrom, beforeId, moved } = query
  // Nothing is paid before it exists.
  const createdTo = query.createdTo ?? moved?.to ?? null
  const isOldestFirst = query.order === 'oldest'
  return {
    workspaceId,
    mode,
    ...createdWithin({ from: createdFrom, to: createdTo }, isOldestFirst ? { after: beforeId } : { before: beforeId }),
    ...(status !== null && { status }),
    ...(search !== null && searchFilter(search)),
  }
}

function searchFilter(search: InvoiceSearch): Filter {
  switch (search.kind) {
    case 'id':
      // An id range of the page must not replace it.
      return { $and: [{ _id: search.id }] }
    case 'ids':
      return { $and: [{ _id: { $in: [...search.ids] } }] }
    case 'number':
      return { number: search.number }
    case 'text':
      return { orderId: search.text }
    case 'order':
      return { orderId: search.orderId }
    case 'email':
      return { customerKey: customerKey(search.email) }
    case 'address':
      return {
        $or: [
          { claims: { $in: [...search.claims] } },
          // ';' follows ':' in ASCII. A range on an array needs one element within both bounds.
          ...search.prefixes.map((prefix) => ({
            claims: { $elemMatch: { $gte: `${prefix}:`, $lt: `${prefix};` } },
          })),
        ],
      }
  }
}

/** The filters that no index serves, for the rows of a page. */
function residualStages({ moved, ...query }: InvoicePageQuery): mongoose.mongo.Document[] {
  const residual = residualFilter(query)
  const isPlain = Object.keys(residual).length === 0
  const stages = isPlain ? [] : [{ $match: residual }]
  if (moved === undefined) return stages
  const within = boundsOf(moved)
  if (moved.by === 'paid') return [...stages, { $match: { paidAt: { $ne: null, ...within } } }]
  if (moved.by === 'received') return [...stages, { $match: { ledger: { $elemMatch: { firstSeenAt: within } } } }]
  return [...stages, ...havingBooked(within)]
}

function residualFilter({ asset, source, flag }: Pick<InvoicePageQuery, 'asset' | 'source' | 'flag'>): Filter {
  return {
    ...(asset !== null && { paymentMethods: { $elemMatch: { asset, to: null } } }),
    ...(source !== null && { source }),
    ...(flag === 'late' && { $or: [{ paidLate: true }, { 'exceptions.exception': 'late' as const }] }),
    ...(flag === 'short' && { underpaidAccepted: true }),
  }
}
