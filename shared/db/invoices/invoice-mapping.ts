import type mongoose from 'mongoose'
import { toDate, toMs } from '#shared/db/connection/dates.ts'
import { createdWithin } from '#shared/db/connection/time-bounds.ts'
import { FIAT_CODES, type FiatCode, type Mode, type NetworkId } from '#shared/domain/enumerations.ts'
import {
  activePaymentMethod,
  type InvoiceState,
  isHeld,
  type Ms,
  type PaymentMethod,
} from '#shared/domain/invoice/model.ts'
import { heldClaims } from '#shared/domain/invoice/quote-window.ts'
import { formatFiat } from '#shared/domain/money/money.ts'
import {
  type Invoice,
  type InvoiceListQuery,
  type NewInvoice,
  outboxShardOf,
  type ReleaseMark,
} from '#shared/ports/invoices.ts'
import {
  INVOICE_OUTBOX,
  INVOICE_STATE,
  INVOICE_TERMS,
  INVOICES,
  type InvoiceDocument,
  type InvoiceStateDocument,
} from './invoice-model.ts'

const WORDS_MAX = 8
const WORD_LENGTH_MAX = 32

/**
 * Letters that Unicode does not decompose, as CLDR's transform Latin-ASCII spells them (ə as ICAO Doc 9303 part 3 does); the Greek final sigma;
 * letters that Arabic and Persian keyboards spell differently, and endings that are written either way (as Lucene's ArabicNormalizer and
 * PersianNormalizer). Apostrophes that Unicode counts as letters separate words, as every other one does.
 */
const SPELLINGS: Readonly<Record<string, string>> = {
  ...{ æ: 'ae', œ: 'oe', ß: 'ss', þ: 'th', ø: 'o', ł: 'l', đ: 'd', ð: 'd', ħ: 'h', ŧ: 't', ı: 'i', ŋ: 'n', ĸ: 'q' },
  ...{ ə: 'e', ɛ: 'e', ɔ: 'o', ɓ: 'b', ɗ: 'd', ɖ: 'd', ƒ: 'f', ɣ: 'g', ƙ: 'k', ʋ: 'v', ƴ: 'y' },
  ...{ ς: 'σ', ی: 'ي', ى: 'ي', ک: 'ك', ة: 'ه', ـ: '', ʻ: "'", ʼ: "'" },
}

/** One spelling of a text for searches, however it was typed: without case and accents, each letter as the keyboards have it that lack it. */
const foldLetters = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/\P{ASCII}/gu, (letter) => SPELLINGS[letter] ?? letter)

/** The words of a name as they are searched: folded, without punctuation; at most eight, of 32 characters each. */
export function nameWords(name: string): readonly string[] {
  const words = foldLetters(name)
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
  return [...new Set(words)].slice(0, WORDS_MAX).map((word) => word.slice(0, WORD_LENGTH_MAX))
}

/** An amount as it is searched; no word of a name begins like it. */
export const amountWord = (amount: string): string => `=${amount}`

/** True for what names a person, which is erased with the customer. */
export const isOfCustomer = (word: string): boolean => !word.startsWith('=')

/** What an invoice is found by besides its own columns: the words of its customer's name, and its amount. */
export function searchWordsOf(invoice: {
  readonly customer: { readonly name: string | null }
  readonly fiat: { readonly minor: bigint; readonly currency: FiatCode }
}): readonly string[] {
  const { customer, fiat } = invoice
  return [...nameWords(customer.name ?? ''), amountWord(formatFiat(fiat.minor, fiat.currency))]
}

/**
 * The words of a name as others would have written it: `Müller` as `Mueller` and the other way, `O'Brien` as `Obrien` and the other way. At
 * most two.
 */
function respelledWords(text: string): readonly (readonly string[])[] {
  const whole = text.normalize('NFC').toLowerCase()
  const joined = whole.replace(/[äöü]/g, (letter) => `${foldLetters(letter)}e`).replace(/['’ʼ]/g, '')
  const single = whole.replace(/([aou])e/g, '$1')
  const parted = whole.replace(/(?<!\p{L})([dlo])(?=\p{L}{4})/gu, "$1'")
  const words = (joined === whole ? [single, parted] : [joined]).filter((other) => other !== whole)
  return words.map(nameWords)
}

/** What a text may mean besides an order's reference. */
export interface SearchText {
  /** Each begins a word of the name. */
  readonly words: readonly string[]
  /** Words to look for, one list after the other, where nothing is found: the name in other spellings. */
  readonly respelled: readonly (readonly string[])[]
  /** The amount, spelled as each currency would, and the currency that was named; null when the text is no amount. */
  readonly amount: { readonly values: readonly string[]; readonly currency: FiatCode | null } | null
}

const AMOUNT = /^([A-Za-z]{3} )?(\d{1,3}(?:,\d{3})+|\d{1,12})(\.\d{1,2})?( [A-Za-z]{3})?$/

/** Reads a text as words of a name, and as an amount as pages show it: digits grouped or not, with the currency or without. */
export function readSearchText(text: string): SearchText {
  const names = { words: nameWords(text), respelled: respelledWords(text) }
  const [, before = '', digits, decimals = '', after = ''] = AMOUNT.exec(text.trim()) ?? []
  if (digits === undefined) return { ...names, amount: null }
  const code = `${before}${after}`.trim().toUpperCase()
  const currency = FIAT_CODES.find((known) => known === code) ?? null
  if (code !== '' && currency === null) return { ...names, amount: null }
  const whole = digits.replaceAll(',', '').replace(/^0+(?=\d)/, '')
  const values = decimals === '' ? [whole, `${whole}.00`] : [`${whole}${decimals.padEnd(3, '0')}`]
  return { ...names, amount: { values, currency } }
}

/** Every address and amount that the invoice's payment methods, past and present, reserve; claims of released ones may be others' by now. */
export const claimsOf = (state: Pick<InvoiceState, 'paymentMethods'>): string[] => [
  ...new Set(state.paymentMethods.filter(isHeld).flatMap(claimsOfPaymentMethod)),
]

const claimsOfPaymentMethod = (paymentMethod: PaymentMethod): readonly string[] => [
  paymentMethod.claim,
  ...(paymentMethod.formerClaims ?? []),
]

/** Claims that were returned, and until when their next holder gets exact amounts only. */
export function returnedOf(
  state: Pick<InvoiceState, 'paymentMethods'>,
): Pick<InvoiceDocument, 'returned' | 'returnedUntil'> {
  const paymentMethods = state.paymentMethods.filter((paymentMethod) => !isHeld(paymentMethod))
  if (paymentMethods.length === 0) return {}
  const until = Math.max(...paymentMethods.map(({ hold }) => (hold?.releasedAt ?? 0) + (hold?.quarantineMs ?? 0)))
  return { returned: [...new Set(paymentMethods.flatMap(claimsOfPaymentMethod))], returnedUntil: toDate(until) }
}

/** Places in visitor budgets: of open watches, and until the invoice is paid for the first time of the visit itself and of valid claims. */
export const drawsOf = ({
  paymentMethods,
  paidAt,
  visit,
}: Pick<InvoiceState, 'paymentMethods' | 'paidAt' | 'visit'>): string[] => {
  const watched = paymentMethods.flatMap(({ watchPlaces = [] }) => watchPlaces)
  if (paidAt !== null) return watched
  const claimed = paymentMethods.filter(isHeld).flatMap(({ draws = [] }) => draws)
  return [...new Set([...(visit?.places ?? []), ...claimed, ...watched])]
}

/** Whether the invoice ever took a place in a budget. */
export const mayHaveDrawn = ({ paymentMethods, visit }: Pick<InvoiceState, 'paymentMethods' | 'visit'>): boolean =>
  visit !== undefined ||
  paymentMethods.some(({ draws, watchPlaces }) => draws !== undefined || watchPlaces !== undefined)

/** When the first of the invoice's claims may end; null when all are permanent. */
export function releaseTimeOf(state: Pick<InvoiceState, 'paymentMethods' | 'expiresAt'>): Date | null {
  const held = heldClaims(state)
  return held.length === 0 ? null : toDate(Math.min(...held.map(({ dueAt }) => dueAt)))
}

/** One text for an e-mail address however its letters are written. */
export const customerKey = (email: string): string => email.normalize('NFC').toLowerCase()

/** The mutable fields as one write sets them; `nextActionAt` is separate because it may have to be unset. */
export function stateToDocument(state: InvoiceState): InvoiceStateDocument {
  const paymentMethod = activePaymentMethod(state)
  return {
    ...INVOICE_STATE.toDocument(state),
    actionChain: paymentMethod === null ? 'none' : `${state.mode}:${paymentMethod.network}`,
  }
}

/** The whole document of a new invoice: state, outbox, claims and idempotency guard in one insert. */
export function invoiceToDocument(invoice: NewInvoice): InvoiceDocument {
  const { terms, state, outbox, idempotency, opId } = invoice
  const claims = claimsOf(state)
  const draws = drawsOf(state)
  const first = outbox[0]
  const releaseAt = releaseTimeOf(state)
  return {
    _id: terms.id,
    ...INVOICE_TERMS.toDocument(terms),
    metadata: Object.entries(terms.metadata).map(([k, v]) => ({ k, v })),
    ...(terms.customer.email !== null && { customerKey: customerKey(terms.customer.email) }),
    searchWords: [...searchWordsOf(terms)],
    ...stateToDocument(state),
    ...(claims.length > 0 && { claims }),
    ...(draws.length > 0 && { draws }),
    ...(releaseAt !== null && { releaseAt }),
    ...(state.nextActionAt !== null && { nextActionAt: toDate(state.nextActionAt) }),
    outbox: outbox.map(INVOICE_OUTBOX.toDocument),
    outboxShard: outboxShardOf(terms.id),
    ...(first !== undefined && { outboxAt: toDate(first.at) }),
    lastOps: opId === null ? [] : [{ opId, seq: state.eventSeq }],
    ...(idempotency !== null && { idem: INVOICES.toFields({ idem: idempotency }).idem }),
    ...(invoice.linkUse !== undefined && { linkUse: invoice.linkUse }),
  }
}

/** A stored invoice with its terms, state, recent operations and unrelayed entries. */
export function invoiceFromDocument(stored: InvoiceDocument): Invoice {
  return {
    terms: {
      id: stored._id,
      ...INVOICE_TERMS.toRecord(stored),
      metadata: Object.fromEntries(stored.metadata.map(({ k, v }) => [k, v])),
    },
    state: {
      ...INVOICE_STATE.toRecord(stored),
      mode: stored.mode,
      createdAt: toMs(stored.createdAt),
      nextActionAt: stored.nextActionAt === undefined ? null : toMs(stored.nextActionAt),
    },
    lastOps: stored.lastOps,
    outbox: stored.outbox.map(INVOICE_OUTBOX.toRecord),
    refundSeq: stored.refundSeq ?? 0,
  }
}

type Filter = mongoose.mongo.Filter<InvoiceDocument>

// Invoice filters. Each is served by one index; `explain.int.test.ts` shows which.

/** The invoice that carries this idempotency key. */
export const withIdempotencyKey = (workspaceId: string, mode: Mode, key: string) => ({
  workspaceId,
  mode,
  'idem.key': key,
})

/** Invoices with a due deadline on one action chain (`<mode>:<network>` or `none`). */
export const dueForAction = (actionChain: string, until: Ms) => ({ actionChain, nextActionAt: { $lte: toDate(until) } })

/** Invoices with a due deadline on one of these action chains. */
export const dueForActions = (actionChains: readonly string[], until: Ms) => ({
  actionChain: { $in: [...actionChains] },
  nextActionAt: { $lte: toDate(until) },
})

/** Invoices of these shards with waiting entries, without those waiting since before `from`. */
export const withWaitingOutbox = (shards: readonly number[], from: Ms | null) => ({
  outboxShard: { $in: [...shards] },
  outboxAt: { $exists: true, ...(from !== null && { $gte: toDate(from) }) },
})

/** Reads the oldest of them, each with the store's clock as `storeNow`. */
export const waitingOutboxes = (shards: readonly number[], from: Ms | null, limit: number) => [
  { $match: withWaitingOutbox(shards, from) },
  { $sort: { outboxAt: 1 } as const },
  { $limit: limit },
  { $set: { storeNow: '$$NOW' } },
]

/** Invoices of these shards with an entry that is at least as old as `before`. */
export const overdueInShards = (shards: readonly number[], before: Ms) => ({
  outboxShard: { $in: [...shards] },
  outboxAt: { $lte: toDate(before) },
})

/** Invoices of a shard with an entry that is at least as old as `before`. */
export const overdueInShard = (outboxShard: number, before: Ms) => ({ outboxShard, outboxAt: { $lte: toDate(before) } })

/** Invoices that hold one of these claims. */
export const holdingClaims = (claims: readonly string[]) => ({ claims: { $in: [...claims] } })

/** Invoices that take one of these places in visitor budgets. */
export const holdingDraws = (draws: readonly string[]) => ({ draws: { $in: [...draws] } })

/** Invoices that take a place `<prefix>:…` in a budget, and of no other prefix: `;` follows `:`. */
export const holdingPlaceOf = (prefix: string) => ({ draws: { $elemMatch: { $gte: `${prefix}:`, $lt: `${prefix};` } } })

/** Invoices that returned one of these claims, while the next holder of it gets exact amounts only. */
export const quarantining = (claims: readonly string[], at: Ms) => ({
  returned: { $in: [...claims] },
  returnedUntil: { $gt: toDate(at) },
})

/** Invoices with a payment method that carries one of these references. */
export const withReferences = (mode: Mode, references: readonly string[]) => ({
  'paymentMethods.reference': { $in: [...references] },
  mode,
})

/** Invoices with a payment method on a network, without those whose deadline is not after a time. */
export const withMethodOn = (mode: Mode, network: NetworkId, expiringAfter: Ms): Filter => ({
  'paymentMethods.network': network,
  mode,
  expiresAt: { $gt: toDate(expiringAfter) },
})

/** Invoices with valid payments on chain. */
export const paidOnChain: Filter = {
  ledger: { $elemMatch: { state: { $in: ['detected', 'confirmed'] }, simulated: false } },
}

/** Invoices whose first temporary claim is due for release, after the given one in the order of (releaseAt, id). */
export function dueForRelease(until: Ms, after: ReleaseMark | null): Filter {
  const due = { releaseAt: { $lte: toDate(until) } }
  if (after === null) return due
  const at = toDate(after.releaseAt)
  return { ...due, $or: [{ releaseAt: { $gt: at } }, { releaseAt: at, _id: { $gt: after.invoiceId } }] }
}

/** Invoices of a list request. Creation bounds also bound the id range. */
export function listed({
  workspaceId,
  mode,
  status,
  orderId,
  createdAfter,
  createdBefore,
  beforeId,
}: InvoiceListQuery): Filter {
  // Times are whole milliseconds, and neither bound is in the period.
  const period = { from: createdAfter === null ? null : createdAfter + 1, to: createdBefore }
  return {
    workspaceId,
    mode,
    ...createdWithin(period, { before: beforeId }),
    ...(status !== null && { status }),
    ...(orderId !== null && { orderId }),
  }
}
