/** A rectangle of a stacked bar, in pixels from the upper left corner of the plot. */
export interface BarPart {
  readonly series: number
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** Layout of a stacked bar chart for a plot of a certain size. */
export interface StackedBars {
  /** Values of the grid lines, from 0 upwards, with their distance from the upper edge. */
  readonly ticks: readonly { readonly value: number; readonly y: number }[]
  /** Days whose label fits, by index, with the middle of their bar. */
  readonly labels: readonly { readonly day: number; readonly x: number }[]
  readonly parts: readonly BarPart[]
}

const TICKS = 4
/** Share of a day's width that stays empty between two bars. */
const GAP = 0.28
/** Width of the longest label, "28 Sep", with the space after it. */
const LABEL_WIDTH = 58
const ROUND_STEPS = [1, 2, 2.5, 5, 10]

/**
 * Lays out `amounts[series][day]`, decimal strings, as one stack per day; what is below zero, because more was taken back than came, has no bar. Only for heights an amount
 * becomes a float. The highest stack fits below the highest grid line; a chart of zeros has grid lines and no bars.
 */
export function stackBars(
  amounts: readonly (readonly string[])[],
  days: number,
  { width, height }: { readonly width: number; readonly height: number },
): StackedBars {
  const amountOf = (series: number, day: number) => Math.max(0, Number(amounts[series]?.[day] ?? 0))
  const totals = Array.from({ length: days }, (_, day) =>
    amounts.reduce((sum, _amount, series) => sum + amountOf(series, day), 0),
  )
  const step = roundStep(Math.max(0, ...totals))
  const perUnit = height / (step * TICKS)
  const band = width / Math.max(1, days)
  const every = Math.max(1, Math.ceil(LABEL_WIDTH / Math.max(1, band)))
  const parts: BarPart[] = []
  for (let day = 0; day < days; day++) {
    let y = height
    amounts.forEach((_amount, series) => {
      const partHeight = amountOf(series, day) * perUnit
      y -= partHeight
      if (partHeight === 0) return
      parts.push({ series, x: (day + GAP / 2) * band, y, width: (1 - GAP) * band, height: partHeight })
    })
  }
  return {
    ticks: Array.from({ length: TICKS + 1 }, (_, tick) => ({ value: tick * step, y: height - tick * step * perUnit })),
    labels: totals.map((_, day) => ({ day, x: (day + 0.5) * band })).filter(({ day }) => day % every === 0),
    parts,
  }
}

/** The smallest round step with which `TICKS` steps reach `max`; 1 for a chart of zeros. */
function roundStep(max: number): number {
  if (max === 0) return 1
  const least = max / TICKS
  const unit = 10 ** Math.floor(Math.log10(least))
  return (ROUND_STEPS.find((step) => step * unit >= least) ?? 10) * unit
}
