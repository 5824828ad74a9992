import type { DropReason } from '#shared/domain/rates/quote.ts'

/** Why a pair of a source has no part in a price, in words for operators. */
export const DROP_LABELS: Readonly<Record<DropReason, string>> = {
  no_answer: 'no response',
  unlisted: 'not listed by the source',
  missing: 'missing in the response',
  halted: 'not traded now',
  no_price: 'no usable price',
  no_time: 'no usable time',
  unit: 'time in another unit',
  clock: 'time ahead of our clock',
  late: 'too old',
  duplicate: 'two prices',
  frozen: 'source repeats itself',
  contradicted: 'contradicted by its own response',
  outlier: 'too far from the others',
  peg: 'quoted in a stablecoin without a price',
  alone: 'nothing to agree with',
}

/** `BTC/USD, ETH/USD not listed by the source; TRX/USD no usable price`: pairs by why they have no part. */
export function droppedText(dropped: readonly { readonly pair: string; readonly because: DropReason }[]): string {
  const reasons = [...new Set(dropped.map(({ because }) => because))]
  return reasons
    .map((reason) => {
      const pairs = dropped.filter(({ because }) => because === reason).map(({ pair }) => pair)
      return `${pairs.join(', ')} ${DROP_LABELS[reason]}`
    })
    .join('; ')
}

/** Whose clock is off, and by how much; `aheadMs` is how far the clocks of price sources are ahead of ours. */
export function clockText(aheadMs: number): string {
  const seconds = Math.round(Math.abs(aheadMs) / 1_000)
  const side = aheadMs > 0 ? 'behind' : 'ahead of'
  return `the clock of this installation is ${seconds} s ${side} those of the price sources: check time synchronisation on the hosts of MongoDB`
}
