import { formatDecimal, parseDecimal } from './decimal.ts'

/**
 * Base units of a decimal amount of an asset with `decimals` decimals: `('1.5', 6)` → `1500000n`.
 * Throws RangeError on anything but a plain decimal number and on more decimals than the asset has; nothing is rounded.
 */
export function parseUnits(decimal: string, decimals: number): bigint {
  const { digits, scale } = parseDecimal(decimal)
  if (scale > decimals) throw new RangeError(`more than ${decimals} decimals`)
  return digits * 10n ** BigInt(decimals - scale)
}

/** The one canonical decimal text of an amount in base units: shortest form, no trailing zeros. `parseUnits` reads it back exactly. */
export function formatUnits(base: bigint, decimals: number): string {
  if (base < 0n) throw new RangeError('an amount is never negative')
  return formatDecimal({ digits: base, scale: decimals })
}
