/** Faults of a pair: they take a symbol (coin or fiat); without one they affect every pair of the source. */
const PAIR_FAULTS = [
  /** The price is ten, or a hundred, times too high; one over itself; that of another currency; forty per cent too low. */
  'ten_times',
  'hundred_times',
  'inverse',
  'euros_as_dollars',
  'flash_crash',
  /** The product is listed, and cannot be traded: orders can only be cancelled, only be seen, or wait for an auction. Coinbase. */
  'cancel_only',
  'view_only',
  'auction_mode',
  /** The pair is missing, has another name, or appears twice with two prices. */
  'missing_pair',
  'renamed_pair',
  'duplicate_pair',
  /** The bid is above the ask; equal to it (which is valid); the book is 8 % wide around the right middle. */
  'crossed',
  'locked',
  'wide',
  /** The last trade is old and far from the price of a live book. */
  'stale_last',
  /** A side, or all of it, is zero, negative, `nan`, null or empty. */
  'zero_bid',
  'zero',
  'negative',
  'nan',
  'null_side',
  'blank_side',
  /** Numbers with thousands separators, in exponent form, or with thirty decimals. */
  'commas',
  'exponents',
  'long_digits',
] as const

/** Faults of the timestamps. Formats without any carry an `Age` header where they are `stale`. */
const TIME_FAULTS = [
  /** Ten minutes old; three days for a daily table. */
  'stale',
  /** Two hours ahead. */
  'future',
  /** Seconds where milliseconds belong, and the reverse. */
  'wrong_unit',
  /** ISO 8601 without a zone. */
  'no_zone',
] as const

/** Faults of the body of an otherwise good response. */
const BODY_FAULTS = [
  /** The last response repeated. */
  'frozen',
  /** A well-formed response without any price. */
  'empty',
  /** The whole list is refused because of one pair, where the format does that. */
  'unknown_pair',
  /** Numbers where texts were, and texts where numbers were. */
  'other_types',
  /** Unknown fields, rows in another order. */
  'new_fields',
  /** The other price of the Argentine peso. */
  'other_peso',
  /** The first half of the body. */
  'truncated',
] as const

/** Faults that replace the response. */
export const REPLY_FAULTS = [
  'http_500',
  'http_520',
  'http_503',
  /** 429 with `Retry-After: 30`, with a date 30 s ahead, and without. */
  'http_429',
  'http_429_date',
  'http_429_bare',
  /** 418 with `Retry-After: 120`. */
  'http_418',
  'http_401',
  /** 403. */
  'forbidden',
  'http_451',
  /** 302 to another host. */
  'redirect',
  /** 200 with an HTML maintenance page, as HTML and as JSON. */
  'html',
  'html_as_json',
  /** 200 with the source's own error format. */
  'error_in_200',
] as const
export type ReplyFault = (typeof REPLY_FAULTS)[number]

/** Faults of the connection. */
export const TRANSPORT_FAULTS = [
  /** The connection opens and no data follows. */
  'timeout',
  /** One byte at a time. */
  'slow_body',
  /** The connection is reset in the middle of the response. */
  'reset',
  'broken_gzip',
  /** More than any response should need. */
  'huge',
] as const
export type TransportFault = (typeof TRANSPORT_FAULTS)[number]

/** Faults of a simulated source. */
export const FAULTS = [...PAIR_FAULTS, ...TIME_FAULTS, ...BODY_FAULTS, ...REPLY_FAULTS, ...TRANSPORT_FAULTS] as const
export type FaultKind = (typeof FAULTS)[number]

/** An active fault of one source. */
export interface Fault {
  readonly kind: FaultKind
  /** Coin or fiat whose pairs are affected; null = all. */
  readonly symbol: string | null
}

/** Whether a fault of this kind affects pairs of this base. */
export function hits(fault: Fault | null, kind: FaultKind, base: string): boolean {
  return fault?.kind === kind && (fault.symbol === null || fault.symbol === base)
}
