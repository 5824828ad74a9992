import { clockText, droppedText } from '#shared/contracts/rates/rate-labels.ts'
import { RATE_SYMBOLS } from '#shared/domain/rates/crypto-board.ts'
import { FX_SERIES } from '#shared/domain/rates/fiat-board.ts'
import { isOffPeg, waitingJump } from '#shared/domain/rates/guard.ts'
import { quorumOf } from '#shared/domain/rates/pair-use.ts'
import type { RateSnapshot } from '#shared/ports/rates.ts'
import { CLOCK_OFF_MS } from './record-use.ts'

/** What is wrong with the rates of a snapshot: `faults` stop prices or are about to, `warnings` cost sources. Sentences without a full stop. */
export interface RateHealth {
  readonly faults: readonly string[]
  readonly warnings: readonly string[]
}

/** Health by use: by the sources inside each price, not by who responds. */
export function rateHealth(snapshot: RateSnapshot): RateHealth {
  const { clockOffsetMs } = snapshot
  const faults: string[] = []
  const warnings: string[] = []
  if (clockOffsetMs !== null && Math.abs(clockOffsetMs) > CLOCK_OFF_MS) faults.push(clockText(clockOffsetMs))
  for (const name of [...RATE_SYMBOLS, ...FX_SERIES]) {
    const legs: Readonly<Record<string, { readonly sources: readonly string[] } | undefined>> = {
      ...snapshot.usdPerSymbol,
      ...snapshot.fiatPerUsd,
    }
    const used = legs[name]?.sources.length ?? null
    const expected = snapshot.expected[name] ?? 0
    if (used === null) faults.push(missingText(snapshot, name))
    else if (used < expected && used <= quorumOf(name) + 1)
      warnings.push(`${name} has ${used} of ${expected} sources and needs ${quorumOf(name)}`)
  }
  for (const [source, { dropped }] of Object.entries(snapshot.sources)) {
    const pairs = Object.entries(dropped).map(([pair, because]) => ({ pair, because }))
    if (pairs.length > 0) warnings.push(`${source}: ${droppedText(pairs)}`)
  }
  return { faults, warnings }
}

function missingText(snapshot: RateSnapshot, name: string): string {
  const memory = snapshot.guards[name]
  const waiting = waitingJump(memory, snapshot.at)
  if (waiting !== null)
    return `${name} jumped to ${waiting.price} and waits: if that is real, paymesh rates confirm ${name} --price ${waiting.price}`
  if (isOffPeg(memory, snapshot.at)) return `${name} is off its peg`
  return `${name} has no price: too few sources agree`
}
