import { z } from 'zod'
import { EVENT_TYPES, NETWORK_IDS } from '#shared/domain/enumerations.ts'

/** One step of the reasoning. Times in texts are ISO 8601, UTC. */
const check = z.object({
  /** Null where the step is only informational. */
  ok: z.boolean().nullable(),
  title: z.string(),
  detail: z.string(),
})

/** One step of the reasoning. */
export type Check = z.infer<typeof check>

const nextStep = z.object({
  kind: z.enum(['open_exception', 'open_invoice', 'attach', 'wait', 'return', 'contact_operator']),
  title: z.string(),
  detail: z.string(),
  /** Of the exception, invoice or payment it is about. */
  id: z.string().nullable(),
})

/** Something that a person can do next. */
export type NextStep = z.infer<typeof nextStep>

/** The answer to a question about a transaction, an address or an invoice. */
export const explanation = z.object({
  /** Outcome of the question, as one code. */
  verdict: z.enum([
    'counted',
    'waiting',
    'wrong_network',
    'wrong_coin',
    'late',
    'unmatched',
    'lookalike',
    'not_yours',
    'token_contract',
    'failed',
    'gone',
    'not_mined',
    'not_scanned',
    'not_stored',
    'not_found',
    'not_counted',
    'invoice_paid',
    'invoice_unpaid',
  ]),
  tone: z.enum(['good', 'wait', 'bad', 'plain']),
  title: z.string(),
  sentence: z.string(),
  checks: z.array(check),
  next: z.array(nextStep),
  /** Networks that were searched. */
  looked: z.array(z.enum(NETWORK_IDS)),
})

/** The answer to a question, without the payment and the invoice that it is about. */
export type Explanation = z.infer<typeof explanation>

/** One check: what the rule requires, the actual value, and whether they match. Times in texts are ISO 8601, UTC. */
export const evidenceRow = z.object({
  check: z.string(),
  rule: z.string(),
  fact: z.string(),
  /** Null where the rule requires nothing. */
  ok: z.boolean().nullable(),
  result: z.string(),
})

/** One check of a payment or of an invoice. */
export type EvidenceRow = z.infer<typeof evidenceRow>

/** Value of money in the invoice's currency, as decimal strings. */
export const worth = z.object({
  currency: z.string(),
  atQuote: z.string(),
  /** Null while no rate is published. */
  now: z.string().nullable(),
  /** Current value minus value at payment method; begins with U+2212 when it fell. Null as `now`. */
  difference: z.string().nullable(),
})

/** Value of money in the invoice's currency. */
export type Worth = z.infer<typeof worth>

/** One entry of an invoice's timeline. */
export const timelineEntry = z.object({
  id: z.string(),
  at: z.number(),
  kind: z.enum(['payment', 'event', 'delivery', 'audit']),
  /** Good, bad, or neither. */
  tone: z.enum(['good', 'bad', 'plain']),
  title: z.string(),
  detail: z.string().nullable(),
  /** Id of the delivery, event or payment to link to; null where there is none. */
  link: z.string().nullable(),
  /** Of an event and of its deliveries; null for others. */
  event: z.object({ id: z.string(), type: z.enum(EVENT_TYPES) }).nullable(),
})

/** One entry of an invoice's timeline. */
export type TimelineEntry = z.infer<typeof timelineEntry>
