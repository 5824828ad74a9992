import type { z } from 'zod'
import { parseLosslessJson } from '#shared/contracts/rates/lossless-json.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { Feed, Reading } from '#shared/domain/rates/quote.ts'

/** The two sides of a price: units of the second for one of the first. */
export type Pair = readonly [base: string, quote: string]

/** Something in a response that moves all the time while the source is alive, and how long it may stand still. */
export interface Pulse {
  readonly text: string
  readonly stillMs: Ms
}

/** What a response contains: its pairs, at most one reading each that is ours. Pairs that it lacks are simply absent. */
export interface ParsedResponse {
  readonly readings: readonly Reading[]
  /** Null: the prices themselves are the pulse, for `frozenAfterMs`. */
  readonly pulse: Pulse | null
}

/** What a source lists, where a response about some pairs does not show it. */
export interface Listing {
  readonly path: string
  /** Own names of the pairs that can be traded now; throws {@link SourceFault}. */
  parse(body: string): ReadonlySet<string>
}

/**
 * One public price source: its requests, and how to parse its responses. It does no I/O. Its shapes and pairs are facts about somebody else, so they carry
 * a date, and every pair is compared with what the source lists: with each response where that has all pairs, otherwise by `listing`.
 */
export interface RateSource {
  /** Bounded label of metrics, configuration and provenance. */
  readonly name: string
  readonly feed: Feed
  /** Scheme and host of the real source, without a trailing slash. */
  readonly defaultUrl: string
  /** Least time between two polls, milliseconds; 0 = every cycle. */
  readonly pollMs: number
  /** Every pair that the source is expected to price, by its own name. */
  readonly pairs: Readonly<Record<string, Pair>>
  /** When and where shape and pairs were last read. */
  readonly read: { readonly on: string; readonly from: string }
  /** Prices that all stand still for this long, over at least four polls, are those of a dead feed, whatever its timestamps are. */
  readonly frozenAfterMs: Ms
  /** Read at start and then daily. Absent where each response shows which pairs exist. */
  readonly listing?: Listing
  /** Path and query of a request for these pairs, by their own names. */
  path(names: readonly string[]): string
  /**
   * Whether the response means that one of the pairs does not exist, where that fails the whole list.
   * Such a list is requested again in parts until the unknown pair is isolated.
   */
  refusesPair?(body: string): boolean
  /**
   * Parses a 200 response. A pair that is missing, halted, crossed or malformed is left out or dropped and the others keep
   * their price; throws {@link SourceFault} when the response as a whole is unusable.
   */
  parse(body: string, receivedAt: Ms): ParsedResponse
}

/** Why a source returned nothing: a bounded label. */
export type FaultReason =
  | 'bad_body'
  | 'refused'
  | 'http_status'
  | 'rate_limited'
  | 'forbidden'
  | 'timeout'
  | 'network'
  | 'too_large'
  | 'stale_cache'
  | 'frozen'
  | 'empty'

/** A response that is unusable as a whole; `excerpt` is its beginning, for the log. */
export class SourceFault extends Error {
  readonly reason: FaultReason
  readonly excerpt: string

  constructor(reason: FaultReason, body: string, cause?: unknown) {
    super(reason, { cause })
    this.name = 'SourceFault'
    this.reason = reason
    this.excerpt = body.slice(0, 200)
  }
}

/** Parses a body as JSON with numbers kept as text and validates it against the schema; throws `SourceFault('bad_body')`. */
export function readBody<T>(schema: z.ZodType<T>, body: string): T {
  try {
    return schema.parse(parseLosslessJson(body))
  } catch (cause) {
    throw new SourceFault('bad_body', body, cause)
  }
}

/** Parses rows one by one and leaves out those that do not match the schema. */
export function readRows<T>(schema: z.ZodType<T>, rows: readonly unknown[]): readonly T[] {
  return rows.flatMap((row) => {
    const result = schema.safeParse(row)
    return result.success ? [result.data] : []
  })
}
