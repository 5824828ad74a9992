import { readTypedNumber, type TypedFault } from '#shared/domain/money/typed-number.ts'

const LOCALE = 'en'
/** Making a format takes longer than a hundred uses of it. */
const GROUPED = new Intl.NumberFormat(LOCALE)

/** Groups a decimal string as in the page's language and keeps every decimal: `1250.00` → `1,250.00`. Exact at any size. */
export function showDecimal(value: string): string {
  const negative = value.startsWith('-')
  const [whole = '0', decimals = ''] = (negative ? value.slice(1) : value).split('.')
  const grouped = GROUPED.format(BigInt(whole))
  return `${negative ? '−' : ''}${grouped}${decimals === '' ? '' : `.${decimals}`}`
}

/** A price of one coin or currency for reading: grouped, and eight significant digits, which are enough to compare by eye. Files have every digit. */
export function showRate(price: string): string {
  const digits = price.replace('.', '').replace(/^0+/, '').length
  if (digits <= 8 || !price.includes('.')) return showDecimal(price)
  return showDecimal(price.slice(0, Math.max(price.indexOf('.') + 3, price.length - (digits - 8))))
}

/** Formats an axis label, as short as possible without being wrong: `1.05K`, `350`, `1,062.5`. */
export function showAxisTick(value: number): string {
  const [unit, suffix] = value >= 1_000_000 ? [1_000_000, 'M'] : value >= 1_000 ? [1_000, 'K'] : [1, '']
  const short = Math.round((value * 100) / unit) / 100
  const isExact = Math.abs(short * unit - value) < unit / 1e9
  return isExact ? `${short}${suffix}` : new Intl.NumberFormat(LOCALE, { maximumFractionDigits: 2 }).format(value)
}

/** Writes a count: `1,204`. */
export function showCount(count: number): string {
  return GROUPED.format(count)
}

/** Deliveries that wait: how many, and how many of them were tried already. */
export function queuedText(waiting: number, retrying: number): string {
  if (waiting !== retrying) return `${showCount(waiting)} queued, ${showCount(retrying)} of them being retried`
  return waiting === 1 ? '1 delivery is being retried' : `${showCount(waiting)} deliveries are being retried`
}

/** Formats a share of 0 to 1 with a space before the sign: `72.6 %`. Only a whole is ever `100 %`, and only nothing is `0 %`. */
export function showShare(share: number, digits = 1): string {
  const step = 10 ** -(digits + 2)
  const honest = share >= 1 || share <= 0 ? share : Math.min(Math.max(share, step), 1 - step)
  return `${Number((honest * 100).toFixed(digits))} %`
}

/** The two ends of a hash or id: `01a1f5…5a3c9d`. Addresses that someone must verify are never shortened. */
export function shorten(id: string, ends = 6): string {
  return id.length <= ends * 2 + 3 ? id : `${id.slice(0, ends)}…${id.slice(-ends)}`
}

/** A typed amount as a plain decimal, or what is wrong with this text. One separator, dot or comma; digits are never grouped. */
export function readAmount(
  typed: string,
  decimalsMax: number,
): { readonly value: string } | { readonly problem: string } {
  const read = readTypedNumber(typed, decimalsMax)
  return 'fault' in read ? { problem: faultText(read.fault, decimalsMax) } : read
}

function faultText(fault: TypedFault, decimalsMax: number): string {
  const example = decimalsMax === 0 ? '1250' : '1250.50'
  if (fault === 'decimals' && decimalsMax > 0) return `At most ${decimalsMax} decimals.`
  return {
    empty: 'Enter an amount.',
    text: `Enter a number, e.g. ${example}.`,
    negative: 'The amount must be above zero.',
    grouped: `Enter the amount without thousands separators, e.g. ${example}.`,
    decimals: 'This currency has no decimals.',
    huge: 'This amount has too many digits.',
    zero: 'The amount must be above zero.',
  }[fault]
}
