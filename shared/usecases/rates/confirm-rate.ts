import { invalidField, invalidState } from '#shared/contracts/errors.ts'
import { formatDecimal, parseDecimal } from '#shared/domain/money/money.ts'
import type { RateSymbol } from '#shared/domain/rates/crypto-board.ts'
import type { FxSeries } from '#shared/domain/rates/fiat-board.ts'
import { waitingJump } from '#shared/domain/rates/guard.ts'
import { CONFIRMED_WITHIN, deviatesMoreThan, parsePrice } from '#shared/domain/rates/price.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { newestSnapshot } from './newest-snapshot.ts'

/** Dependencies of {@link confirmRate}. */
export type ConfirmRateDeps = Uses<'clock' | 'rateSnapshots'>

/** An operator's word that a price is real. */
export interface ConfirmRateInput {
  readonly name: RateSymbol | FxSeries
  /** The price that the operator compared, in USD per coin or units per USD. */
  readonly price: string
  readonly opId: string
  readonly actor: string
  readonly reason: string | null
}

/**
 * Confirms a price that the jump guard holds back: with the next cycles it is published while the sources' median stays within 3 % of it, for an hour at most. It never
 * makes a price, and ends no stop of a stablecoin off its peg. The confirmation and its audit row are one transaction; repeating it changes nothing. Throws
 * `VALIDATION_ERROR` for a malformed price or a missing reason, and `INVALID_STATE` when no jump waits.
 */
export async function confirmRate(deps: ConfirmRateDeps, input: ConfirmRateInput): Promise<{ readonly price: string }> {
  const { name, actor, opId } = input
  const reason = input.reason?.trim() ?? ''
  const given = parsePrice(input.price)
  if (given === null) throw invalidField('price', 'a price is required, such as 1490.5')
  if (reason === '') throw invalidField('reason', 'enter a reason for the audit log')
  const price = formatDecimal(given)
  const id = `${opId}:rate_confirmed`
  const now = deps.clock.now()
  const snapshot = await newestSnapshot(deps.rateSnapshots, now)
  const candidate = snapshot === null ? null : waitingJump(snapshot.guards[name], snapshot.at)
  if (candidate === null) {
    if ((await deps.rateSnapshots.confirmed(name, now)) === price) return { price }
    throw invalidState(`No jump of ${name} waits for a confirmation.`)
  }
  if (deviatesMoreThan(parseDecimal(candidate.price), given, CONFIRMED_WITHIN))
    throw invalidField('price', `the sources agree on ${candidate.price}, which is too far from it`)
  const detail = { price, held_price: candidate.price, last_price: snapshot?.guards[name]?.last.price ?? null }
  await deps.rateSnapshots.confirm(name, price, {
    ...{ id, at: now, actor, action: 'rate.confirmed', subject: name, workspaceId: null, mode: null },
    detail: { ...detail, reason },
  })
  return { price }
}
