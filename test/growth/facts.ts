import { uuidLowerBound } from '#shared/db/connection/uuid-time.ts'
import type { EventType, ExceptionKind } from '#shared/domain/enumerations.ts'
import { eventId } from '#shared/domain/ids.ts'

export const HOUR_MS = 3_600_000
export const DAY_MS = 86_400_000
/** The age of the seeded installation. */
export const AGE_DAYS = 730
const AGE_MS = AGE_DAYS * DAY_MS
/** Events and deliveries older than this are past their life, or about to be: the store removes them at 180 days. */
export const EVENT_LIFE_DAYS = 179.5
/** One invoice in so many was made from the payment link. */
export const LINKED_EVERY = 1_000
/** One invoice in so many belongs to another workspace: the busy one owns 90 % of all rows. */
const OTHERS_EVERY = 10
/** Invoices of the busy workspace that were created in the last hours and are still open. */
export const OPEN_INVOICES = 200

export const BUSY = 'ws-busy'
export const QUIET = 'ws-quiet'
export const MATERIAL = 'live:evm:growth'
/** `alive` takes everything, `dead` has a tenth of all deliveries due, `held` is disabled. */
export const ENDPOINTS = { alive: 'endpoint-alive', dead: 'endpoint-dead', held: 'endpoint-held' } as const
export const MODE = 'live' as const
export const NETWORK = 'ethereum'
export const CHAIN = `${MODE}:${NETWORK}` as const
/** What inbox rows of the seed are about, in the shares of a busy installation. */
export const SEEDED_KINDS: readonly ExceptionKind[] = ['unmatched', 'late', 'partial', 'over', 'failing_endpoint']

/**
 * What the rows of a seeded installation are called: everything follows from the number of invoices and the time of the newest row,
 * so that questions can name rows that exist without reading them.
 */
export interface Facts {
  readonly invoices: number
  /** The time at which the newest row was made. */
  readonly now: number
  createdAt(index: number): number
  workspaceOf(index: number): string
  invoiceId(index: number): string
  matchKey(index: number): string
  paymentKey(index: number): string
  paymentId(index: number): string
  eventId(index: number, seq: number): string
  /** The newest invoice of the busy workspace that is over, and one from the middle of the two years. */
  readonly recent: number
  readonly old: number
}

/** Names for an installation of this many invoices that ends at `now`, in milliseconds since the epoch. */
export function factsOf(invoices: number, now: number): Facts {
  const closed = invoices - OPEN_INVOICES
  const createdAt = (index: number): number =>
    index < closed
      ? Math.floor(now - 2 * HOUR_MS - ((closed - index) / closed) * AGE_MS)
      : now - HOUR_MS + (index - closed) * 1_000
  const owned = (index: number): number => (index % OTHERS_EVERY === 0 ? index + 1 : index)
  const idAt = (index: number, tail: string): string => {
    const time = uuidLowerBound(createdAt(index)).slice(0, 13)
    return `${time}-7000-${tail}-${index.toString(16).padStart(12, '0')}`
  }
  const hex = (index: number): string => index.toString(16).padStart(40, '0')
  return {
    invoices,
    now,
    createdAt,
    workspaceOf: (index) => (index % OTHERS_EVERY === 0 ? QUIET : BUSY),
    invoiceId: (index) => idAt(index, '8000'),
    matchKey: hex,
    paymentKey: (index) => `${MODE}:${NETWORK}:0x${hex(index)}${'0'.repeat(24)}:log:0`,
    paymentId: (index) => idAt(index, '8001'),
    eventId: (index, seq) => eventId(idAt(index, '8000'), seq),
    recent: owned(closed - 2),
    old: owned(Math.floor(closed / 2)),
  }
}

/** True for three of five invoices: they were paid, by one payment each. */
export const isPaid = (index: number): boolean => index % 5 < 3

/** True for the newest invoices, which are still open; a payment of theirs was seen and waits to be applied. */
export const isOpen = (facts: Facts, index: number): boolean => index >= facts.invoices - OPEN_INVOICES

const ALL_EVENTS = {
  open: ['invoice.created', 'invoice.pending'],
  paid: ['invoice.created', 'payment.detected', 'payment.confirmed', 'invoice.paid'],
  expired: ['invoice.created', 'invoice.expired'],
} as const satisfies Readonly<Record<string, readonly EventType[]>>

/** What was announced about an invoice, in order: the event with number 1 first. */
export const eventTypesOf = (facts: Facts, index: number): readonly EventType[] =>
  ALL_EVENTS[isOpen(facts, index) ? 'open' : isPaid(index) ? 'paid' : 'expired']
