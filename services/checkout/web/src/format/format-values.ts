import type { FiatView } from '#shared/contracts/checkout/invoice-view.ts'
import { FIAT_EXPONENT } from '#shared/domain/money/money.ts'

/** A fiat amount as displayed: grouped as in its country, followed by the code, without computing any digit. */
export function fiatText({ value, currency }: FiatView, locale: string): string {
  return `${fiatNumber({ value, currency }, locale)} ${currency}`
}

/** The number of a fiat amount without its code. */
export function fiatNumber({ value, currency }: FiatView, locale: string): string {
  const digits = FIAT_EXPONENT[currency]
  const format = new Intl.NumberFormat(locale, { minimumFractionDigits: digits, maximumFractionDigits: digits })
  // A text is formatted exactly (ECMA-402, StringNumericLiteral); a number would lose digits.
  return format.format(value as Intl.StringNumericLiteral)
}

/** A price of one coin for reading: grouped as in its country, two decimals from a thousand on, four from one on, six digits below. The API has every digit. */
export function rateText(rate: string, locale: string): string {
  const whole = rate.split('.')[0] ?? ''
  const decimals =
    whole === '0'
      ? { maximumSignificantDigits: 6 }
      : { maximumFractionDigits: whole.length > 3 ? 2 : 4, minimumFractionDigits: 2 }
  return new Intl.NumberFormat(locale, decimals).format(rate as Intl.StringNumericLiteral)
}

/** An estimate in a coin, which nobody copies: digits in groups of three, apart by a narrow space in every language. */
export function estimateText(amount: string): string {
  const [whole = '', fraction] = amount.split('.')
  const grouped = new Intl.NumberFormat('en').format(BigInt(whole)).replaceAll(',', '\u202f')
  return fraction === undefined ? grouped : `${grouped}.${fraction}`
}

/** Time left or taken: `4 min 12 s`, `3 h 5 min`. The same in every language of the pages. */
export function durationText(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1_000))
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return seconds % 60 === 0 ? `${minutes} min` : `${minutes} min ${seconds % 60} s`
  const hours = Math.floor(minutes / 60)
  return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`
}

/** An estimated time, in whole minutes or hours, rounded up. */
export function roughText(ms: number): string {
  const minutes = Math.max(1, Math.ceil(ms / 60_000))
  return minutes < 120 ? `${minutes} min` : `${Math.ceil(minutes / 60)} h`
}

/** A moment in the reader's own time zone: the time today, with the day on other days. */
export function momentText(at: number, now: number, locale: string): string {
  const sameDay = new Date(at).toDateString() === new Date(now).toDateString()
  const time: Intl.DateTimeFormatOptions = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }
  const options = sameDay ? time : { ...time, day: 'numeric' as const, month: 'short' as const }
  return new Intl.DateTimeFormat(locale, options).format(at)
}

/** A moment with day, year and, for receipts, seconds and the offset from UTC; in the reader's own time zone unless one is given. */
export function fullMomentText(at: number, locale: string, isPrecise = false, timeZone?: string): string {
  return new Intl.DateTimeFormat(locale, {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    ...(timeZone !== undefined && { timeZone }),
    ...(isPrecise && { second: '2-digit', timeZoneName: 'shortOffset' }),
  }).format(at)
}

/** An address in groups of four, its first and last group separate: the parts that a person compares. */
export function addressGroups(address: string): readonly string[] {
  const head = address.startsWith('0x') ? 6 : 4
  if (address.length <= head + 4) return [address]
  const middle = address.slice(head, -4).match(/.{1,4}/g) ?? []
  return [address.slice(0, head), ...middle, address.slice(-4)]
}

/** A shortened hash or id that need not be verified by eye. */
export function shortHash(hash: string): string {
  return hash.length <= 16 ? hash : `${hash.slice(0, 6)}…${hash.slice(-6)}`
}
