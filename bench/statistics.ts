/** The value below which a share of the values is; NaN without values. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/** Median with the lowest and the highest value, as a text. */
export function medianAndRange(values: readonly number[], digits = 0): string {
  const text = (share: number) => percentile(values, share).toFixed(digits)
  return `${text(0.5)} (${text(0)} to ${text(1)})`
}
