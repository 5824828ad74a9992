import type { BalanceCheck } from '#shared/ports/native-balances.ts'
import type { Payment } from '#shared/ports/payments.ts'
import type { BalanceRise, ScannedBlock } from '#shared/ports/scanning.ts'
import { covers } from '#shared/usecases/payments/drop-balance-duplicates.ts'
import { type BalanceStep, untoldRises } from './balance-increases.ts'

/** What transactions show of one account in one block. Base units. */
export interface BlockFlow {
  readonly height: number
  /** Sent to it, less what it spent: value and fees. */
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

/** A part of a rise that nobody told of, and the block whose reading showed it. */
export interface FoundRise {
  readonly height: number
  readonly amountBase: bigint
  readonly rise: BalanceRise
}

/** What transactions of scanned blocks show of one account, block by block. */
export function flowsOf(blocks: readonly ScannedBlock[], matchKey: string): readonly BlockFlow[] {
  return blocks.map(({ height, transfers, spending }) => {
    const { spentBase, feesBase } = spending?.get(matchKey) ?? { spentBase: 0n, feesBase: 0n }
    const sentBase = transfers
      .filter((transfer) => transfer.matchKey === matchKey && transfer.contract === null && transfer.inside !== true)
      .reduce((sum, { amountBase }) => sum + amountBase, 0n)
    return { height, netBase: sentBase - spentBase, feesBase }
  })
}

/** Sum of what transactions show over several blocks. */
export const netOf = (flows: readonly BlockFlow[]): bigint => flows.reduce((sum, { netBase }) => sum + netBase, 0n)

/**
 * The rises of one account between a check and the last of the readings, each in the block that showed it. `told` are the
 * stored payments that explain rises in these blocks and are no part of the flows. Readings and flows are in order of height.
 */
export function findRises(
  start: BalanceCheck,
  readings: readonly Reading[],
  flows: readonly BlockFlow[],
  told: readonly Payment[],
): readonly FoundRise[] {
  const end = readings.at(-1)?.height ?? start.height
  // Of a payment that sums up more blocks than these, nobody knows how much came in which: it explains all of them.
  const [wider, own] = [
    told.filter((one) => reachesBeyond(one, start.height, end)),
    told.filter((one) => !reachesBeyond(one, start.height, end)),
  ]
  const steps = readings
    .map((reading, index) => ({ reading, index, before: readings[index - 1] ?? start }))
    .filter(({ reading }) => !wider.some((payment) => covers(payment, reading.height)))
  const untold = untoldRises(
    steps.map(({ reading, index, before }): BalanceStep => {
      const within = (height: number) => height > before.height && height <= reading.height
      const seen = flows.filter(({ height }) => within(height))
      return {
        beforeBase: before.balanceBase,
        afterBase: reading.balanceBase,
        knownBase: netOf(seen) + (index === 0 ? start.flowBase : 0n),
        feesBase: seen.reduce((sum, { feesBase }) => sum + feesBase, 0n),
        toldBase: own
          .filter(({ block }) => block !== null && within(block.height))
          .reduce((sum, { amountBase }) => sum + amountBase, 0n),
      }
    }),
  )
  return steps.flatMap(({ reading, before }, index) => {
    const amountBase = untold[index] ?? 0n
    if (amountBase === 0n) return []
    const since = { height: before.height, hash: before.hash }
    const [beforeBase, afterBase] = [before.balanceBase.toString(), reading.balanceBase.toString()]
    return { height: reading.height, amountBase, rise: { since, beforeBase, afterBase } }
  })
}

/** Whether blocks below or above these are in a payment's rise: the scanner was sent back into the middle of it. */
function reachesBeyond({ block }: Payment, start: number, end: number): boolean {
  if (block?.rise === undefined) return false
  return block.rise.since.height < start || block.height > end
}
