import { parseUnits } from '#shared/domain/money/amount.ts'

/** One thousand to some readers, one to others. */
const AMBIGUOUS = /^[1-9]\d{0,2},\d{3}$/

/** Base units of a typed amount as text; null for invalid or ambiguous text, zero and too many decimals. */
export function toBaseUnits(typed: string, decimals: number): string | null {
  const text = typed.trim()
  if (AMBIGUOUS.test(text)) return null
  try {
    const base = parseUnits(text.replace(',', '.'), decimals)
    return base > 0n ? base.toString() : null
  } catch {
    return null
  }
}
