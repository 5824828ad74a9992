import { showDecimal } from '../format/amounts.ts'

/** A fiat amount: code instead of symbol, every decimal kept. `value` is a decimal string: `<Money value="1250.00" currency="MXN" />`. */
export function Money({ value, currency }: { readonly value: string; readonly currency: string }) {
  return (
    <span className="pm-num pm-nowrap">
      <b>{showDecimal(value)}</b> <span className="pm-muted">{currency}</span>
    </span>
  )
}
