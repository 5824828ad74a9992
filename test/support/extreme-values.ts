import { FIAT_CODES } from '#shared/domain/enumerations.ts'

/** Names that break pages: without a space, from right to left, with marks that turn or hide what follows, and as an attacker writes them. */
export const EXTREME_NAMES = [
  'W'.repeat(200),
  'محمد الفاتح شركة القهوة العربية',
  '\u202egnp.exe',
  'a\u200bb\u200b',
  '<script>window.attacked = true</script><img src=x onerror="window.attacked = true">',
] as const

const PRICES = [
  { value: '1000000000000000.00', currency: 'USD' },
  { value: '1000000000000000', currency: 'CLP' },
  { value: '0.01', currency: 'EUR' },
] as const
const COINS = ['0.000000000000000001', '1000000000000000', '0.00000001'] as const
/** Fields with a text that a person typed, or that their receiver answered. */
const TYPED = ['orderId', 'title', 'description', 'name', 'text', 'reason', 'responseBody']
/** Addresses of receivers; pages leave out how they begin. */
const URLS = ['url', 'endpointUrl']
const PLACES = [`shop.example/${'w'.repeat(200)}`, 'xn--mgbh0fb.example/%D9%85', 'shop.example:8443/a/b'] as const
/** Records whose name a person typed; other names are those of networks, coins and processes. */
const OF_PEOPLE =
  /^(checkout|invoices|payments|customers|paymentLinks|products|apiKeys|members|exceptions|deliveries|endpoints)\./
/** Amounts beside a currency, and beside the symbol of a coin. */
const FIAT = [
  ...['price', 'amount', 'received', 'short', 'excess', 'refunded', 'net', 'atQuote', 'now'],
  ...['marketReceived', 'marketRefunded', 'balanceFiat', 'feeFiat'],
]
const FIATS = ['1000000000000000.00', '0.01', '987654321.00'] as const
const COIN = ['amount', 'received', 'due', 'remaining', 'seen', 'confirmed', 'left', 'refunded', 'balance']
const FEE = ['fee', 'topUp']
/** What is not known of an address without money. */
const UNKNOWN = ['balanceFiat', 'fee', 'feeFiat']

/** A value that was put into an answer: the field, without places in lists, and what a page that shows it says. */
export interface PutIn {
  readonly field: string
  /** An amount with its unit as the server says it, or the text of a person. */
  readonly amount?: string
  readonly name?: string
}

type Fields = Record<string, unknown>
const isPrice = (value: unknown): value is { value: string; currency: string } =>
  typeof value === 'object' && value !== null && 'value' in value && 'currency' in value

/**
 * An answer of the dashboard's server with long, large, tiny and non-Latin values in place of the real ones, different ones for each row. `note` is called
 * with each value that was put in.
 */
export function withExtremeValues(procedure: string, answer: unknown, note: (put: PutIn) => void = () => {}): unknown {
  let turn = 0
  const pick = <T>(choices: readonly T[]): T => {
    turn += 1
    return choices[turn % choices.length] as T
  }
  const amountFor = (key: string, value: string, owner: Fields): { value: string; unit: string } | null => {
    if (!/^[\d.]+$/.test(value)) return null
    if (COIN.includes(key) && typeof owner['symbol'] === 'string') return { value: pick(COINS), unit: owner['symbol'] }
    if (FEE.includes(key) && typeof owner['feeSymbol'] === 'string')
      return { value: pick(COINS), unit: owner['feeSymbol'] }
    if (FIAT.includes(key) && typeof owner['currency'] === 'string')
      return { value: pick(FIATS), unit: owner['currency'] }
    return null
  }
  const change = (key: string, given: unknown, owner: Fields, path: string): unknown => {
    const value = given === null && UNKNOWN.includes(key) && 'feeSymbol' in owner ? '0' : given
    if (Array.isArray(value)) return value.map((one) => change(key, one, owner, path))
    if (isPrice(value)) {
      const price = pick(PRICES)
      note({ field: path, amount: `${price.value} ${price.currency}` })
      return { ...value, ...price }
    }
    if (typeof value === 'object' && value !== null) {
      return Object.fromEntries(
        Object.entries(value).map(([name, inner]) => [
          name,
          change(name, inner, value as Fields, path === '' ? name : `${path}.${name}`),
        ]),
      )
    }
    if (typeof value !== 'string' || value === '') return value
    const amount = amountFor(key, value, owner)
    if (amount !== null) {
      note({ field: path, amount: `${amount.value} ${amount.unit}` })
      return amount.value
    }
    if (URLS.includes(key) && value.startsWith('http')) {
      const place = pick(PLACES)
      note({ field: path, name: place })
      return `https://${place}`
    }
    if (!TYPED.includes(key) || !OF_PEOPLE.test(procedure)) return value
    const name = pick(EXTREME_NAMES)
    note({ field: path, name })
    return name
  }
  return change('', answer, {}, '')
}

/** The decimal that a shown number says: `1,250.00` is `1250.00`. */
export const readShown = (shown: string): string => shown.replaceAll(',', '').replace('\u2212', '-').trim()

/** Every amount with its unit that a text says: `10.00 of 12.00 USDT` is two. */
export const amountsIn = (text: string): readonly string[] =>
  [...text.matchAll(/([\d,.\u2212]+)(?: of ([\d,.]+))?[\s\u00a0]([A-Za-z]+)/g)].flatMap(
    ([, first = '', second, unit = '']) =>
      [first, ...(second === undefined ? [] : [second])].map((one) => `${readShown(one)} ${unit}`),
  )

/** A text without the marks that pages leave out of names or make visible, and without what the browser itself folds. */
export const plainText = (text: string): string => text.replace(/[\p{Cf}\s␦]|[\u2066-\u2069]|U\+[0-9A-F]{4}/gu, '')

const CODES = FIAT_CODES.join('|')
const UNGROUPED = new RegExp(`(?<![\\d.,])\\d{5,}(?:\\.\\d+)?[\\s\u00a0](?:${CODES})\\b`, 'g')
/** Prices in a text whose digits are not grouped, which nobody reads at a glance. */
export const ungroupedIn = (text: string): readonly string[] => text.match(UNGROUPED) ?? []

const PRICE = new RegExp(`([\\d.,]+)[\\s\u00a0](?:${CODES})\\b`, 'g')
/** Prices and rates with decimals whose digits nobody reads to the end. */
export const overlongIn = (text: string): readonly string[] =>
  [...text.matchAll(PRICE)].flatMap(([whole, number = '']) =>
    number.includes('.') && !/\.\d\d$/.test(number) && number.replace(/[.,]/g, '').replace(/^0+/, '').length > 9
      ? [whole]
      : [],
  )
