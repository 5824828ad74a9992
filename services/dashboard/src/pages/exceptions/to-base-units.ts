import { parseUnits } from '#shared/domain/money/money.ts'
import { readTypedNumber } from '#shared/domain/money/typed-number.ts'

/** Base units of a typed amount as text; null for invalid or ambiguous text, zero and too many decimals. */
export function toBaseUnits(typed: string, decimals: number): string | null {
  const read = readTypedNumber(typed, decimals)
  return 'fault' in read ? null : parseUnits(read.value, decimals).toString()
}
