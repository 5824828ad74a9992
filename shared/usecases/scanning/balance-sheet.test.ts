import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type BalanceStep, unexplainedIncreases } from './balance-sheet.ts'

const RUNS = { numRuns: 5_000 }

const calm: BalanceStep = { beforeBase: 0n, afterBase: 0n, knownBase: 0n, feesBase: 0n, recordedBase: 0n }
const increases = (...steps: readonly Partial<BalanceStep>[]) =>
  unexplainedIncreases(steps.map((step) => ({ ...calm, ...step })))

describe('what nobody told of', () => {
  it.each<[string, readonly Partial<BalanceStep>[], readonly bigint[]]>([
    ['is all of a rise without a transaction', [{ afterBase: 5n }], [5n]],
    ['is nothing of what transactions sent', [{ afterBase: 5n, knownBase: 5n }], [0n]],
    ['is what lies below an outflow', [{ beforeBase: 9n, afterBase: 4n, knownBase: -10n }], [5n]],
    ['is nothing of what is stored', [{ afterBase: 5n, recordedBase: 5n }], [0n]],
    ['is the rest of what is stored in part', [{ afterBase: 5n, recordedBase: 3n }], [2n]],
    ['is nothing when a balance fell', [{ beforeBase: 9n, afterBase: 4n }], [0n]],
    [
      'is a later rise in full although the balance fell before',
      [
        { beforeBase: 9n, afterBase: 4n },
        { beforeBase: 4n, afterBase: 7n },
      ],
      [0n, 3n],
    ],
    [
      'is nothing in a step whose rise was told in a later one',
      [{ afterBase: 5n }, { beforeBase: 5n, afterBase: 5n, recordedBase: 5n }],
      [0n, 0n],
    ],
    [
      'is what came on top of that',
      [{ afterBase: 5n }, { beforeBase: 5n, afterBase: 5n, recordedBase: 5n }, { beforeBase: 5n, afterBase: 7n }],
      [0n, 0n, 2n],
    ],
    ['is nothing that a wrongly counted fee explains', [{ afterBase: 5n, feesBase: 5n }], [0n]],
    ['is all of what a fee does not explain', [{ afterBase: 6n, feesBase: 5n }], [6n]],
  ])('%s', (_what, steps, expected) => {
    expect(increases(...steps)).toEqual(expected)
  })
})

/** What happens to an account in one block. `inside` reaches it in calls; `known` is what transactions show. */
interface Happening {
  readonly inside: bigint
  readonly known: bigint
  /** The state of the block can be read. */
  readonly readable: boolean
}

const coins = fc.constantFrom(0n, 0n, 0n, 1n, 5n, 5n, 10n ** 18n, 10n ** 30n)
const happening: fc.Arbitrary<Happening> = fc
  .record({ inside: coins, sent: coins, spent: coins, readable: fc.boolean() })
  .map(({ inside, sent, spent, readable }) => ({ inside, known: sent - spent, readable }))
const chain = fc.array(happening, { minLength: 1, maxLength: 8 })

/** A life of the account, cut where `readable`, with what is told of each block. The balance may go below zero: only sums matter. */
function stepsOf(blocks: readonly Happening[], recorded: ReadonlyMap<number, bigint>): readonly BalanceStep[] {
  const steps: BalanceStep[] = []
  let [balance, before, known, recordedBase] = [100n, 100n, 0n, 0n]
  for (const [height, block] of blocks.entries()) {
    balance += block.inside + block.known
    known += block.known
    recordedBase += recorded.get(height) ?? 0n
    if (!block.readable && height < blocks.length - 1) continue
    steps.push({ beforeBase: before, afterBase: balance, knownBase: known, feesBase: 0n, recordedBase })
    ;[before, known, recordedBase] = [balance, 0n, 0n]
  }
  return steps
}

const sum = (amounts: readonly bigint[]) => amounts.reduce((total, amount) => total + amount, 0n)
const insideOf = (blocks: readonly Happening[]) => sum(blocks.map(({ inside }) => inside))

/** Stores what is found where it is found, as the scanner does. */
function tell(blocks: readonly Happening[], recorded: Map<number, bigint>): void {
  const found = unexplainedIncreases(stepsOf(blocks, recorded))
  const heights = blocks.flatMap(({ readable }, height) => (readable || height === blocks.length - 1 ? [height] : []))
  for (const [index, height] of heights.entries())
    recorded.set(height, (recorded.get(height) ?? 0n) + (found[index] ?? 0n))
}

describe('properties', () => {
  // Guarantee: an account that only its own transactions take from is credited exactly what came in calls, whatever can be read.
  it('credit what came, once, however the blocks are cut and how often they are looked at', () => {
    fc.assert(
      fc.property(
        chain,
        fc.array(fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }), { maxLength: 3 }),
        (blocks, cuts) => {
          const recorded = new Map<number, bigint>()
          tell(blocks, recorded)
          expect(sum([...recorded.values()])).toBe(insideOf(blocks))
          // Replays after a crash may be able to read more, or less.
          for (const cut of cuts) {
            tell(
              blocks.map((block, height) => ({ ...block, readable: cut[height] ?? false })),
              recorded,
            )
            expect(sum([...recorded.values()])).toBe(insideOf(blocks))
          }
        },
      ),
      RUNS,
    )
  })

  // Guarantee: a replay that sees further credits only what is new.
  it('credit what comes after a replay in full', () => {
    fc.assert(
      fc.property(chain, chain, (blocks, more) => {
        const recorded = new Map<number, bigint>()
        tell(blocks, recorded)
        tell([...blocks, ...more], recorded)
        expect(sum([...recorded.values()])).toBe(insideOf([...blocks, ...more]))
      }),
      RUNS,
    )
  })

  const anyStep = fc
    .record({
      increase: fc.bigInt(-50n, 50n),
      known: fc.bigInt(-50n, 50n),
      fees: fc.bigInt(0n, 9n),
      recorded: fc.bigInt(0n, 50n),
    })
    .map(
      ({ increase, known, fees, recorded }): BalanceStep => ({
        beforeBase: 0n,
        afterBase: increase + known,
        knownBase: known,
        feesBase: fees,
        recordedBase: recorded,
      }),
    )

  // Guarantee: whatever balances, fees and records say, nothing below zero, nothing beyond the rises, and nothing twice.
  it('never exceed the rises less what was told, and are nothing once told', () => {
    fc.assert(
      fc.property(fc.array(anyStep, { maxLength: 6 }), (steps) => {
        const found = unexplainedIncreases(steps)
        const positive = steps
          .map((step) => step.afterBase - step.beforeBase - step.knownBase)
          .filter((increase) => increase > 0n)
        expect(found.every((amount) => amount >= 0n)).toBe(true)
        const bound = sum(positive) - sum(steps.map(({ recordedBase }) => recordedBase))
        expect(sum(found) <= (bound > 0n ? bound : 0n)).toBe(true)
        const again = steps.map((step, index) => ({ ...step, recordedBase: step.recordedBase + (found[index] ?? 0n) }))
        expect(sum(unexplainedIncreases(again))).toBe(0n)
      }),
      RUNS,
    )
  })
})
