import { parseUnits } from '#shared/domain/money/amount.ts'

/** Base units of a typed amount as text; null for invalid text, zero and too many decimals. */
export function toBaseUnits(typed: string, decimals: number): string | null {
  try {
    const base = parseUnits(typed.trim().replace(',', '.'), decimals)
    return base > 0n ? base.toString() : null
  } catch {
    return null
  }
}
