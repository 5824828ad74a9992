/** Changes of one account between two consecutive readings of its balance. Base units. */
export interface BalanceStep {
  readonly beforeBase: bigint
  readonly afterBase: bigint
  /** Amount received in transactions, minus the amount spent: value and fees. */
  readonly knownBase: bigint
  /** The fees in it. */
  readonly feesBase: bigint
  /** Stored payments, other than those of `knownBase`, in blocks after the first reading up to the second. */
  readonly recordedBase: bigint
}

/**
 * The part of each step that no payment explains yet, never below zero. A step that fell is a new start and takes nothing from the
 * others, but a surplus of recorded payments over one step's increase explains others: a payment is stored in the first block that
 * could be read, which may lie above its real one. An increase within the fees of its step is a miscounted fee.
 *
 * Once its result is recorded, it returns zeros; and it never returns more than the increases minus the recorded amount.
 */
export function unexplainedIncreases(steps: readonly BalanceStep[]): readonly bigint[] {
  const open = steps.map((step) => {
    const increase = step.afterBase - step.beforeBase - step.knownBase
    return increase <= step.feesBase ? -step.recordedBase : increase - step.recordedBase
  })
  let surplus = open.reduce((sum, rest) => (rest < 0n ? sum - rest : sum), 0n)
  return open.map((rest) => {
    if (rest <= 0n) return 0n
    const unrecorded = rest - surplus
    surplus = unrecorded < 0n ? -unrecorded : 0n
    return unrecorded > 0n ? unrecorded : 0n
  })
}
