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
  { value: '1000000000000000', currency: 'JPY' },
  { value: '0.01', currency: 'EUR' },
] as const
const COINS = ['0.000000000000000001', '1000000000000000', '0.00000001'] as const
/** Fields with a text that a person typed. */
const TYPED = ['orderId', 'title', 'description', 'name']
/** Records whose name a person typed; other names are those of networks, coins and processes. */
const OF_PEOPLE = /^(invoices|payments|customers|paymentLinks|products|apiKeys|members|exceptions)\./

type Fields = Record<string, unknown>
const isPrice = (value: unknown): value is { value: string; currency: string } =>
  typeof value === 'object' && value !== null && 'value' in value && 'currency' in value

/** An answer of the dashboard's server with long, large, tiny and non-Latin values in place of its own, row by row others. */
export function withExtremeValues(procedure: string, answer: unknown): unknown {
  let turn = 0
  const pick = <T>(choices: readonly T[]): T => {
    turn += 1
    return choices[turn % choices.length] as T
  }
  const change = (key: string, value: unknown, owner: Fields): unknown => {
    if (Array.isArray(value)) return value.map((one) => change(key, one, owner))
    if (isPrice(value)) return { ...value, ...pick(PRICES) }
    if (typeof value === 'object' && value !== null) {
      return Object.fromEntries(
        Object.entries(value).map(([name, inner]) => [name, change(name, inner, value as Fields)]),
      )
    }
    if (typeof value !== 'string' || value === '') return value
    if (TYPED.includes(key) && OF_PEOPLE.test(procedure)) return pick(EXTREME_NAMES)
    if (key === 'price' && 'currency' in owner) return PRICES[0].value
    if (['amount', 'received', 'due'].includes(key) && 'symbol' in owner && /^[\d.]+$/.test(value)) return pick(COINS)
    return value
  }
  return change('', answer, {})
}

/** The decimal that a shown number says: `1,250.00` is `1250.00`. */
export const readShown = (shown: string): string => shown.replaceAll(',', '').replace('\u2212', '-').trim()
