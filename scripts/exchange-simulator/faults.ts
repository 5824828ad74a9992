/** What a simulated source can do wrong. Those of a pair take a symbol; without one they hit every pair. */
export const FAULTS = [
  /** Every price ten times too high. */
  'ten_times',
  /** Time stamps, or the `Age` header of formats without one, ten minutes old. */
  'stale',
  /** The last answer again and again. */
  'frozen',
  'http_500',
  /** 429 with `Retry-After: 30`. */
  'http_429',
  'forbidden',
  /** 200 with an HTML maintenance page. */
  'html',
  /** The connection opens and nothing ever comes. */
  'timeout',
  /** A well-formed answer without any price. */
  'empty',
  /** A side of the book is `nan`. */
  'nan',
  /** The bid is above the ask. */
  'crossed',
  /** The pair is not in the answer. */
  'missing_pair',
  /** The whole list is refused because of one pair, where the format does that. */
  'unknown_pair',
] as const
export type FaultKind = (typeof FAULTS)[number]

/** A fault that is switched on for one source. */
export interface Fault {
  readonly kind: FaultKind
  /** Coin or fiat whose pairs are hit; null = all. */
  readonly symbol: string | null
}

/** Whether a fault of this kind hits pairs of this base. */
export function hits(fault: Fault | null, kind: FaultKind, base: string): boolean {
  return fault?.kind === kind && (fault.symbol === null || fault.symbol === base)
}
