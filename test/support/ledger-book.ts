import type { AssetId, FiatCode } from '#shared/domain/enumerations.ts'
import type { InvoiceTerms } from '#shared/domain/invoice/model.ts'
import type { Payment } from '#shared/ports/payments.ts'
import type { Refund } from '#shared/ports/refunds.ts'

/** A row that the books must have; amounts in base units and minor units, signed. */
export interface ExpectedMovement {
  readonly kind: 'receipt' | 'reversal' | 'correction' | 'refund'
  readonly at: number
  readonly asset: AssetId
  readonly amount: bigint
  readonly value: bigint
  readonly excess: bigint
  readonly market: bigint | null
  readonly reported: bigint | null
  readonly counted: boolean
  /** About money that went back: a refund, or a correction of what refunds took. */
  readonly isBack: boolean
}

const EXPONENTS: Readonly<Partial<Record<FiatCode, number>>> = { CLP: 0 }
const exponent = (code: FiatCode): number => EXPONENTS[code] ?? 2

/** Half up, away from zero. */
function rounded(numerator: bigint, denominator: bigint): bigint {
  const negative = numerator < 0n
  const size = negative ? -numerator : numerator
  const whole = size / denominator
  const up = (size - whole * denominator) * 2n >= denominator ? whole + 1n : whole
  return negative ? -up : up
}

/** A plain decimal as a fraction. */
function fraction(text: string): readonly [bigint, bigint] {
  const [whole = '', decimals = ''] = text.split('.')
  return [BigInt(whole + decimals), 10n ** BigInt(decimals.length)]
}

/**
 * An independent ledger of one invoice with one price: it is written while the story is played, by whoever plays it, and shares no code with the
 * product. `due` base units of the coin are the price.
 */
export function createLedgerBook(
  { fiat, reporting }: InvoiceTerms,
  { due }: { readonly asset: AssetId; readonly due: bigint },
  decimalsOf: (asset: AssetId) => number,
) {
  const rows: (ExpectedMovement & { readonly order: string })[] = []
  const worth = new Map<string, bigint>()
  /** What counts, and what does not, less what went back. */
  const counted = new Map<AssetId, { base: bigint; worth: bigint }>()
  const beside = new Map<AssetId, bigint>()
  const wentBack = new Set<AssetId>()
  let paid = 0n
  let returned = 0n

  const price = (base: bigint) => rounded(fiat.minor * base, due)
  const report = (minor: bigint): bigint | null => {
    if (reporting === undefined) return null
    const [top, bottom] = fraction(reporting.rate)
    return rounded(
      minor * top * 10n ** BigInt(exponent(reporting.currency)),
      bottom * 10n ** BigInt(exponent(fiat.currency)),
    )
  }
  const atMarket = (base: bigint, market: Refund['market'], asset: AssetId): bigint | null => {
    if (market === null) return null
    const [top, bottom] = fraction(market.fiatPerAsset)
    return rounded(base * top * 10n ** BigInt(exponent(fiat.currency)), bottom * 10n ** BigInt(decimalsOf(asset)))
  }
  const over = (minor: bigint) => (minor > fiat.minor ? minor - fiat.minor : 0n)
  const write = (
    row: Omit<ExpectedMovement, 'value' | 'excess' | 'reported' | 'isBack'>,
    change: bigint,
    order: string,
  ): void => {
    const [from, to] = [price(paid), price(paid + change)]
    paid += change
    const [before, after] = [report(from), report(to)]
    const reported = before === null || after === null ? null : after - before
    rows.push({ ...row, value: to - from, excess: over(to) - over(from), reported, isBack: false, order })
    if (wentBack.has(row.asset)) regroup(row.asset, row.at, order)
  }
  const giveBack = (part: bigint) => {
    const [from, to] = [-price(returned), -price(returned + part)]
    returned += part
    const [before, after] = [report(from), report(to)]
    const reported = before === null || after === null ? null : after - before
    return { value: to - from, excess: 0n, reported, isBack: true }
  }
  /** A coin has both money that is missing and money that is there: what went back was of the latter. */
  const regroup = (asset: AssetId, at: number, order: string): void => {
    const { base, worth: value } = heap(asset)
    const idle = beside.get(asset) ?? 0n
    const isMixed = (base > 0n && idle < 0n) || (base < 0n && idle > 0n)
    // The smaller of both, with the sign of what counts.
    const moved = !isMixed ? 0n : base > 0n === base > -idle ? -idle : base
    const rest = base - moved
    const part = moved === 0n ? 0n : (value * moved) / base
    const isImpossible = (rest <= 0n && value > part) || (rest >= 0n && value < part)
    const taken = isImpossible ? value : part
    beside.set(asset, idle + moved)
    counted.set(asset, { base: rest, worth: value - taken })
    const row = giveBack(taken)
    const shape = { kind: 'correction', at, asset, amount: 0n, market: 0n, counted: true } as const
    if (row.value !== 0n) rows.push({ ...shape, ...row, order: `${order}~` })
  }
  const heap = (asset: AssetId) => counted.get(asset) ?? { base: 0n, worth: 0n }
  const shift = (asset: AssetId, base: bigint, value: bigint): void => {
    if (value === 0n) beside.set(asset, (beside.get(asset) ?? 0n) + base)
    else counted.set(asset, { base: heap(asset).base + base, worth: heap(asset).worth + value })
  }
  return {
    /** Confirmed: `value` is what it pays in base units of the price; nothing when it does not count. */
    receive: (payment: Payment, at: number, value: bigint): void => {
      const { asset, amountBase: amount, key } = payment
      if (asset === null) return
      worth.set(key, value)
      shift(asset, amount, value)
      const market = atMarket(amount, payment.market ?? null, asset)
      write({ kind: 'receipt', at, asset, amount, market, counted: value > 0n }, value, key)
    },
    reverse: (payment: Payment, at: number): void => {
      const { asset, amountBase, key } = payment
      if (asset === null) return
      const value = worth.get(key) ?? 0n
      shift(asset, -amountBase, -value)
      const market = atMarket(-amountBase, payment.market ?? null, asset)
      write({ kind: 'reversal', at, asset, amount: -amountBase, market, counted: value > 0n }, -value, key)
    },
    /** A person accepted it with this value. */
    accept: ({ asset, amountBase, key }: Payment, at: number, value: bigint): void => {
      const before = worth.get(key) ?? 0n
      if (asset === null || before === value) return
      worth.set(key, value)
      shift(asset, -amountBase, -before)
      shift(asset, amountBase, value)
      write({ kind: 'correction', at, asset, amount: 0n, market: 0n, counted: true }, value - before, key)
    },
    /** Money that counts for nothing goes back first. */
    refund: ({ asset, amountBase, market, id }: Refund, at: number): void => {
      const least = (one: bigint, other: bigint) => (one < other ? one : other < 0n ? 0n : other)
      const unneeded = least(amountBase, beside.get(asset) ?? 0n)
      const { base, worth: value } = heap(asset)
      const taken = least(amountBase - unneeded, base)
      const part = taken === 0n || value < 0n ? 0n : (value * taken) / base
      // What is not there at all is owed, and worth nothing.
      beside.set(asset, (beside.get(asset) ?? 0n) - (amountBase - taken))
      counted.set(asset, { base: base - taken, worth: value - part })
      wentBack.add(asset)
      const row = { kind: 'refund' as const, at, asset, amount: -amountBase, ...giveBack(part) }
      rows.push({ ...row, market: atMarket(-amountBase, market, asset), counted: part > 0n, order: id })
    },
    movements: (): readonly ExpectedMovement[] => rows.map(({ order: _order, ...row }) => row),
  }
}
