/** What happened to one account between two readings of its balance that follow each other. Base units. */
export interface BalanceStep {
  readonly beforeBase: bigint
  readonly afterBase: bigint
  /** What transactions sent to it, less what it spent: value and fees. */
  readonly knownBase: bigint
  /** The fees in it. */
  readonly feesBase: bigint
  /** Stored payments, other than those of `knownBase`, that stand in blocks after the first reading up to the second. */
  readonly toldBase: bigint
}

/**
 * How much of each step nobody has told of yet, never below zero. A step that fell is a new start and takes nothing from the
 * others, but what was told in one step beyond its rise explains others: a payment stands in the first block that could be
 * read, which may lie above the one that it came in. A rise within the fees of its step is a fee counted wrongly.
 *
 * With what it returns told, it returns zeros; and it never returns more than the rises less what was told.
 */
export function untoldRises(steps: readonly BalanceStep[]): readonly bigint[] {
  const open = steps.map((step) => {
    const rise = step.afterBase - step.beforeBase - step.knownBase
    return rise <= step.feesBase ? -step.toldBase : rise - step.toldBase
  })
  let surplus = open.reduce((sum, rest) => (rest < 0n ? sum - rest : sum), 0n)
  return open.map((rest) => {
    if (rest <= 0n) return 0n
    const untold = rest - surplus
    surplus = untold < 0n ? -untold : 0n
    return untold > 0n ? untold : 0n
  })
}
