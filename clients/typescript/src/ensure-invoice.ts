import { createHash } from 'node:crypto'
import { PaymeshApiError } from './api-error.ts'
import type { PaymeshList } from './list.ts'
import type { CallOptions, WriteOptions } from './transport.ts'
import type { Invoice, InvoiceCreate, InvoiceListQuery } from './types.ts'

/** Rounds in which other calls may open or end an invoice of the order before this one gives up. */
const ROUNDS_MAX = 5
const KEY_LENGTH_MAX = 200
/** More attempts than an order can have: a list that goes on is not believed. */
const ATTEMPTS_MAX = 1_000

/** Keys of one attempt that refusals of one minute may have used up. */
const KEYS_MAX = 20

/** The operations that `ensure` is made of. */
interface Calls {
  create(input: InvoiceCreate, options?: WriteOptions): Promise<Invoice>
  get(id: string, options?: CallOptions): Promise<Invoice>
  list(query?: InvoiceListQuery, options?: CallOptions): PaymeshList<Invoice>
  cancel(id: string, options?: WriteOptions): Promise<Invoice>
}

/** See `Invoices.ensure`. `nowMs` is Unix milliseconds. */
export async function ensureInvoice(
  invoices: Calls,
  input: InvoiceCreate,
  nowMs: number,
  options?: CallOptions,
): Promise<Invoice> {
  const { order_id: orderId } = input
  if (typeof orderId !== 'string' || orderId === '') throw new TypeError('ensure needs an order_id')
  const usedUp = new Set<string>()
  for (let round = 0; round < ROUNDS_MAX + usedUp.size; round += 1) {
    const attempts: Invoice[] = []
    for await (const attempt of invoices.list({ order_id: orderId, limit: 100 }, options)) {
      attempts.push(attempt)
      if (attempts.length > ATTEMPTS_MAX) throw new Error(`order ${orderId}: it has more than ${ATTEMPTS_MAX} invoices`)
    }
    const [one, ...others] = attempts
      .filter((attempt) => !hasEnded(attempt))
      .sort((left, right) => progressOf(right) - progressOf(left))
    // An older one was paid late, or two were opened at once: nobody must be asked to pay the order twice.
    for (const other of others) if (progressOf(other) === 0) await isCancelled(invoices, other.id, options)
    if (one !== undefined) {
      const isKept = progressOf(one) > 0 || hasTerms(one, input) || !(await isCancelled(invoices, one.id, options))
      const kept = isKept ? await invoices.get(one.id, options) : null
      // It may have ended since the list was read.
      if (kept !== null && !hasEnded(kept)) return kept
      continue
    }
    const idempotencyKey = keyFor(`order-${keyOf(orderId)}-${attempts.length + 1}`, nowMs, usedUp)
    const made = await invoices
      .create(input, { ...options, idempotencyKey })
      .catch(unless((error) => usedUp.size < KEYS_MAX && isUsedUp(error)))
    if (made === null) {
      usedUp.add(idempotencyKey)
      continue
    }
    // A repeated answer shows the invoice as it was when it was created.
    const current = await invoices.get(made.id, options)
    if (!hasEnded(current)) return current
  }
  throw new Error(`order ${orderId}: other calls keep opening and ending its invoices`)
}

/**
 * The key of an attempt, or one of this minute (`.29402222`, `.29402222.2`) while refusals have used it up: the API repeats a refusal for a
 * day, and the shop may have removed its cause since.
 */
function keyFor(attempt: string, nowMs: number, usedUp: ReadonlySet<string>): string {
  const ofMinute = `${attempt}.${Math.floor(nowMs / 60_000)}`
  let key = attempt
  for (let count = 1; usedUp.has(key); count += 1) key = count === 1 ? ofMinute : `${ofMinute}.${count}`
  return key
}

/** The key gives no invoice on these terms: its stored response is a refusal of before, or another call was faster with other terms, which the list shows. */
const isUsedUp = ({ code, isReplayed }: PaymeshApiError): boolean => isReplayed || code === 'IDEMPOTENCY_MISMATCH'

const PROGRESS = new Map(Object.entries({ new: 0, pending: 0, partial: 1, confirming: 2 }))

/** How far its money is; 3 for one that is paid, or has a status that this version does not have. */
const progressOf = ({ status }: Invoice): number => PROGRESS.get(status) ?? 3

const hasEnded = ({ status }: Invoice): boolean => status === 'expired' || status === 'cancelled'

function hasTerms({ amount, crypto }: Invoice, input: InvoiceCreate): boolean {
  const isSameCoin = !input.asset || crypto?.asset === input.asset
  return amount.currency === input.currency && plain(amount.value) === plain(input.amount) && isSameCoin
}

/** A decimal without zeros that do not count. */
function plain(amount: string): string {
  let end = amount.length
  if (amount.includes('.')) while (amount[end - 1] === '0') end -= 1
  return amount.slice(0, amount[end - 1] === '.' ? end - 1 : end)
}

/** False when money has come for it. */
async function isCancelled(invoices: Calls, id: string, options: CallOptions | undefined): Promise<boolean> {
  return (await invoices.cancel(id, options).catch(unless(({ code }) => code === 'INVALID_STATE'))) !== null
}

/** Null for an expected refusal; other errors go on. */
function unless(isExpected: (error: PaymeshApiError) => boolean): (error: unknown) => null {
  return (error) => {
    if (error instanceof PaymeshApiError && isExpected(error)) return null
    throw error
  }
}

/** Visible ASCII for the key, different for different orders, and the same in every client: percent-encoded but for unreserved characters (RFC 3986). */
function keyOf(orderId: string): string {
  const text = encodeURIComponent(orderId).replace(
    /[!'()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return text.length <= KEY_LENGTH_MAX ? text : createHash('sha256').update(text).digest('hex')
}
