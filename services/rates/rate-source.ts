import type { z } from 'zod'
import { parseLosslessJson } from '#shared/contracts/rates/lossless-json.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { Feed, Quote } from '#shared/domain/rates/quote.ts'

/** One public price source: its requests, and how to parse its responses. It does no I/O. */
export interface RateSource {
  /** Bounded label of metrics, configuration and provenance. */
  readonly name: string
  readonly feed: Feed
  /** Scheme and host of the real source, without a trailing slash. */
  readonly defaultUrl: string
  /** Least time between two polls, milliseconds; 0 = every cycle. */
  readonly pollMs: number
  /** Pairs in the source's own names; empty when one request returns everything. */
  readonly pairs: readonly string[]
  /** Path and query of a request for these pairs. */
  path(pairs: readonly string[]): string
  /**
   * Whether the response means that one of the pairs does not exist, where that fails the whole list.
   * Such a list is requested again in halves until the unknown pair is isolated.
   */
  refusesPair?(body: string): boolean
  /**
   * Parses a 200 response. A pair that is missing, halted, crossed or malformed is left out and the others keep
   * their price; throws {@link SourceFault} when the response as a whole is unusable.
   */
  parse(body: string, receivedAt: Ms): readonly Quote[]
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
