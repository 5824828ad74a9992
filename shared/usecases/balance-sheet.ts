import { type BalanceStep, untoldRises } from './balance-rises.ts'
import type { BalanceCheck } from './ports/coin-balances.ts'
import type { Payment } from './ports/payments.ts'
import type { BalanceRise, ScannedBlock } from './ports/scanning.ts'

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
 * stored payments that stand in these blocks and are no part of the flows. Readings and flows are in order of height.
 */
export function findRises(
  start: BalanceCheck,
  readings: readonly Reading[],
  flows: readonly BlockFlow[],
  told: readonly Payment[],
): readonly FoundRise[] {
  const steps = readings.map((reading, index): BalanceStep => {
    const before = readings[index - 1] ?? start
    const within = (height: number) => height > before.height && height <= reading.height
    const own = flows.filter(({ height }) => within(height))
    return {
      beforeBase: before.balanceBase,
      afterBase: reading.balanceBase,
      knownBase: netOf(own) + (index === 0 ? start.flowBase : 0n),
      feesBase: own.reduce((sum, { feesBase }) => sum + feesBase, 0n),
      toldBase: told
        .filter(({ block }) => block !== null && within(block.height))
        .reduce((sum, { amountBase }) => sum + amountBase, 0n),
    }
  })
  return untoldRises(steps).flatMap((amountBase, index) => {
    const reading = readings[index]
    if (amountBase === 0n || reading === undefined) return []
    const { height, hash, balanceBase } = readings[index - 1] ?? start
    const since = { height, hash }
    const [beforeBase, afterBase] = [balanceBase.toString(), reading.balanceBase.toString()]
    return { height: reading.height, amountBase, rise: { since, beforeBase, afterBase } }
  })
}
