import { ASSET_IDS } from '#shared/domain/enumerations.ts'
import { parseUnits } from '#shared/domain/money/money.ts'
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
  const isWhole = !/[1-9]/.test(decimals)
  const unknown = isWhole && (unit === '' || unit === BASE_UNITS) ? [{ asset: null, amountBase: BigInt(whole) }] : []
  const ofAssets = ASSET_IDS.flatMap((asset) => {
    const info = catalog.asset(asset)
    const isOther = unit !== '' && info.symbol.toLowerCase() !== unit
    // Behind the last decimal that the asset has there may be zeros only.
    if (isOther || /[1-9]/.test(decimals.slice(1 + info.decimals))) return []
    return [{ asset, amountBase: parseUnits(`${whole}${decimals.slice(0, 1 + info.decimals)}`, info.decimals) }]
  })
  return [...unknown, ...ofAssets]
}
