import { formatUnits } from './money.ts'

/** Coins priced like fiat are shown like fiat. */
const CENTS = 2

/**
 * An amount as displayed: the same text is shown, copied and encoded. Never rounded; assets shown
 * with two decimals keep both, others lose trailing zeros.
 */
export function displayUnits(
  base: bigint,
  asset: { readonly decimals: number; readonly displayDecimals: number },
): string {
  const text = formatUnits(base, asset.decimals)
  if (asset.displayDecimals !== CENTS) return text
  const [whole = '0', fraction = ''] = text.split('.')
  return `${whole}.${fraction.padEnd(CENTS, '0')}`
}
