import type { Ms } from '#shared/domain/invoice/model.ts'
import type { BalanceCheck } from '#shared/ports/native-balances.ts'
import type { Payment } from '#shared/ports/payments.ts'
import type { BalanceIncrease, ScannedBlock } from '#shared/ports/scanned-blocks.ts'

/** Transactions of one account in one block. Base units. */
export interface BlockFlow {
  readonly height: number
  /** Amount received, minus the amount spent: value and fees. */
  readonly netBase: bigint
  /** The fees in it. */
  readonly feesBase: bigint
}

/** A balance at the end of a block. */
export interface Reading {
  readonly height: number
  readonly hash: string
  readonly balanceBase: bigint
}

/** A part of an increase that no payment explains, and the block whose reading showed it. */
export interface FoundIncrease {
  readonly height: number
  readonly amountBase: bigint
  readonly increase: BalanceIncrease
  /** As `LedgerTransfer` has it. */
  readonly from?: Ms
}

/** Looks up the flows of an account in the transactions of scanned blocks; blocks without one are left out. */
export function flowsIn(blocks: readonly ScannedBlock[]): (matchKey: string) => readonly BlockFlow[] {
  const received = blocks.map(({ transfers }) => {
    const sums = new Map<string, bigint>()
    for (const { matchKey, contract, amountBase } of transfers)
      if (contract === null) sums.set(matchKey, (sums.get(matchKey) ?? 0n) + amountBase)
    return sums
  })
  return (matchKey) =>
    blocks.flatMap(({ height, spending }, at) => {
      const [receivedBase, spent] = [received[at]?.get(matchKey), spending?.get(matchKey)]
      if (receivedBase === undefined && spent === undefined) return []
      return { height, netBase: (receivedBase ?? 0n) - (spent?.spentBase ?? 0n), feesBase: spent?.feesBase ?? 0n }
    })
}

/** Sum of the flows of several blocks. */
export const netOf = (flows: readonly BlockFlow[]): bigint => flows.reduce((sum, { netBase }) => sum + netBase, 0n)

/**
 * The increases of one account between a check and the last of the readings, each in the block that showed it. `recorded` are the
 * stored payments that explain increases in these blocks and are not part of the flows. Readings and flows are in order of height.
 */
export function findIncreases(
  start: BalanceCheck,
  readings: readonly Reading[],
  flows: readonly BlockFlow[],
  recorded: readonly Payment[],
): readonly FoundIncrease[] {
  const end = readings.at(-1)?.height ?? start.height
  // For a payment that sums up more blocks than these, the amount per block is unknown: it explains all of them.
  const [wider, own] = [
    recorded.filter((one) => reachesBeyond(one, start.height, end)),
    recorded.filter((one) => !reachesBeyond(one, start.height, end)),
  ]
  const steps = readings
    .map((reading, index) => ({ reading, index, before: readings[index - 1] ?? start }))
    .filter(({ reading }) => !wider.some((payment) => covers(payment, reading.height)))
  const unrecorded = unexplainedIncreases(
    steps.map(({ reading, index, before }): BalanceStep => {
      const within = (height: number) => height > before.height && height <= reading.height
      const seen = flows.filter(({ height }) => within(height))
      return {
        beforeBase: before.balanceBase,
        afterBase: reading.balanceBase,
        knownBase: netOf(seen) + (index === 0 ? start.flowBase : 0n),
        feesBase: seen.reduce((sum, { feesBase }) => sum + feesBase, 0n),
        recordedBase: own
          .filter(({ block }) => block !== null && within(block.height))
          .reduce((sum, { amountBase }) => sum + amountBase, 0n),
      }
    }),
  )
  return steps.flatMap(({ reading, before }, index) => {
    const amountBase = unrecorded[index] ?? 0n
    if (amountBase === 0n) return []
    const since = { height: before.height, hash: before.hash }
    const [beforeBase, afterBase] = [before.balanceBase.toString(), reading.balanceBase.toString()]
    return { height: reading.height, amountBase, increase: { since, beforeBase, afterBase } }
  })
}

/** Whether a payment detected from balances covers what reached its account otherwise at this height. */
export function covers({ block }: Pick<Payment, 'block'>, height: number): boolean {
  return block !== null && height <= block.height && height > (block.increase?.since.height ?? block.height - 1)
}

/** Whether a payment's increase includes blocks below or above these: the scanner was sent back into the middle of it. */
function reachesBeyond({ block }: Payment, start: number, end: number): boolean {
  if (block?.increase === undefined) return false
  return block.increase.since.height < start || block.height > end
}

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
