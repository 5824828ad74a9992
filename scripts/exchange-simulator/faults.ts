/** Faults of a pair: they take a symbol (coin or fiat); without one they hit every pair of the source. */
const PAIR_FAULTS = [
  /** The price is ten, or a hundred, times too high; one over itself; that of another currency; forty per cent too low. */
  'ten_times',
  'hundred_times',
  'inverse',
  'euros_as_dollars',
  'flash_crash',
  /** The pair is not in the answer, comes under another name, or comes twice with two prices. */
  'missing_pair',
  'renamed_pair',
  'duplicate_pair',
  /** The bid is above the ask; equal to it (which is fine); the book is 8 % wide around the right middle. */
  'crossed',
  'locked',
  'wide',
  /** The last trade is old and far off beside a book that is alive. */
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

/** Faults of the time stamps. Formats without any carry an `Age` header where they are `stale`. */
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

/** Faults of a body that is otherwise a good answer. */
const BODY_FAULTS = [
  /** The last answer again and again. */
  'frozen',
  /** A well-formed answer without any price. */
  'empty',
  /** The whole list is refused because of one pair, where the format does that. */
  'unknown_pair',
  /** Numbers where texts were, and texts where numbers were. */
  'other_types',
  /** Fields that nobody has seen before, rows in another order. */
  'new_fields',
  /** The other price of the Argentine peso. */
  'other_peso',
  /** The first half of the body. */
  'truncated',
] as const

/** Faults that put something else in place of the answer. */
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
  /** 200 with the source's own way to say that something failed. */
  'error_in_200',
] as const
export type ReplyFault = (typeof REPLY_FAULTS)[number]

/** Faults of the connection. */
export const TRANSPORT_FAULTS = [
  /** The connection opens and nothing ever comes. */
  'timeout',
  /** One byte at a time. */
  'slow_body',
  /** The connection is reset in the middle of the answer. */
  'reset',
  'broken_gzip',
  /** More than any answer ever needs. */
  'huge',
] as const
export type TransportFault = (typeof TRANSPORT_FAULTS)[number]

/** What a simulated source can do wrong. */
export const FAULTS = [...PAIR_FAULTS, ...TIME_FAULTS, ...BODY_FAULTS, ...REPLY_FAULTS, ...TRANSPORT_FAULTS] as const
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
