import type { z } from 'zod'
import { parseLosslessJson } from '#shared/contracts/rates/lossless-json.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { Feed, Quote } from '#shared/domain/rates/quote.ts'

/** One public price source: where to ask, and how to read what it answers. It does no I/O itself. */
export interface RateSource {
  /** Bounded label of metrics, configuration and provenance. */
  readonly name: string
  readonly feed: Feed
  /** Scheme and host of the real source, without a slash at the end. */
  readonly defaultUrl: string
  /** Least time between two polls, milliseconds; 0 = every cycle. */
  readonly pollMs: number
  /** Pairs as this source names them; empty when one request answers everything. */
  readonly pairs: readonly string[]
  /** Path and query that ask for these pairs. */
  path(pairs: readonly string[]): string
  /**
   * Whether the answer says that one of the pairs does not exist, where that fails the whole list.
   * Such a list is asked again in halves until the offender is alone.
   */
  refusesPair?(body: string): boolean
  /**
   * Reads a 200 answer. A pair that is missing, halted, crossed or written oddly is left out and the others keep
   * their price; throws {@link SourceFault} when the answer as a whole cannot be used.
   */
  parse(body: string, receivedAt: Ms): readonly Quote[]
}

/** Why a source gave nothing: a bounded label. */
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

/** An answer that cannot be used as a whole; `excerpt` is its beginning, for the log. */
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

/** Parses a body as JSON with numbers kept as text and holds it against the format; throws `SourceFault('bad_body')`. */
export function readBody<T>(schema: z.ZodType<T>, body: string): T {
  try {
    return schema.parse(parseLosslessJson(body))
  } catch (cause) {
    throw new SourceFault('bad_body', body, cause)
  }
}

/** Reads rows one by one and leaves out those that do not fit the format. */
export function readRows<T>(schema: z.ZodType<T>, rows: readonly unknown[]): readonly T[] {
  return rows.flatMap((row) => {
    const result = schema.safeParse(row)
    return result.success ? [result.data] : []
  })
}
