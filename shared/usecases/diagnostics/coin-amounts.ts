import { ASSET_IDS } from '#shared/domain/enumerations.ts'
import { parseUnits } from '#shared/domain/money/amount.ts'
import type { Catalog } from '#shared/ports/chain-catalog.ts'
import type { PaymentSearch } from '#shared/ports/payment-lookups.ts'

/** Digits grouped or not, with a coin's symbol or without, as pages show an amount of coins. */
const AMOUNT = /^(\d{1,3}(?:,\d{3})+|\d{1,30})(\.\d{1,30})?( (?:base units|[A-Za-z][A-Za-z0-9]{1,9}))?$/
const BASE_UNITS = 'base units'

/** True when the text is a number with a word behind it that may be a coin's symbol. */
export const namesCoin = (text: string): boolean => AMOUNT.exec(text.trim())?.[3] !== undefined

/** The amounts that a text may name, in base units of each asset that it fits; none when it is no amount of coins. */
export function coinAmounts(catalog: Pick<Catalog, 'asset'>, text: string): PaymentSearch['amounts'] {
  const [, digits, decimals = '', behind = ''] = AMOUNT.exec(text.trim()) ?? []
  if (digits === undefined) return []
  const whole = digits.replaceAll(',', '')
  const unit = behind.trim().toLowerCase()
  const trimmed = decimals.replace(/\.?0*$/, '')
  const unknown =
    trimmed === '' && (unit === '' || unit === BASE_UNITS) ? [{ asset: null, amountBase: BigInt(whole) }] : []
  const assets = ASSET_IDS.filter((id) => {
    const info = catalog.asset(id)
    return (unit === '' || info.symbol.toLowerCase() === unit) && trimmed.length - 1 <= info.decimals
  })
  return [
    ...unknown,
    ...assets.map((asset) => ({
      asset,
      amountBase: parseUnits(`${whole}${trimmed}`, catalog.asset(asset).decimals),
    })),
  ]
}
