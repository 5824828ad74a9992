import fc from 'fast-check'
import { describe, it } from 'vitest'
import { createCatalog } from '#shared/chains/catalog.ts'
import { ASSET_IDS } from '#shared/domain/enumerations.ts'
import type { InvoiceEvent, PaymentObservation } from '#shared/domain/invoice/invoice-event.ts'
import type { InvoiceState, PaymentMethod } from '#shared/domain/invoice/model.ts'
import { openInvoice } from '#shared/domain/invoice/open-invoice.ts'
import { isDust, requestedBase, totals } from '#shared/domain/invoice/totals.ts'
import { transition } from '#shared/domain/invoice/transition.ts'
import { holds } from '#shared/domain/invoice/transition-arbitraries.fixture.ts'
import {
  aPayment,
  aPaymentMethod,
  aQuote,
  DEADLINE,
  MINUTE,
  T0,
} from '#shared/domain/invoice/transition-story.fixture.ts'
import { displayUnit } from '#shared/domain/money/money.ts'
import type { AssetInfo } from '#shared/ports/chain-catalog.ts'
import { DEFAULT_POLICY } from '#shared/usecases/workspaces/create-workspace.ts'
import { RUNS } from '#test/support/property-runs.ts'
import { frozenBounds } from './prepare-quote.ts'

const catalog = createCatalog({ live: {}, test: {} })

/** A price in display units above the minimum, from the smallest invoice to a billion times it. */
const price = fc.record({ scale: fc.nat(9), factor: fc.bigInt({ min: 1n, max: 99n }) })
/** What a payer sends first: a share, or all but a little, in base units near the bounds. */
const first = fc.oneof(
  fc.record({ kind: fc.constant('share' as const), parts: fc.bigInt({ min: 1n, max: 999_999n }) }),
  fc.record({ kind: fc.constant('short' as const), parts: fc.bigInt({ min: 1n, max: 3_000_000n }) }),
  fc.record({ kind: fc.constant('nearDust' as const), parts: fc.bigInt({ min: -3n, max: 3n }) }),
)
const story = fc.record({ price, firsts: fc.array(first, { minLength: 1, maxLength: 3 }), isLate: fc.boolean() })

function methodOf(info: AssetInfo, dueBase: bigint): PaymentMethod {
  return aPaymentMethod({
    ...{ asset: info.id, network: info.network, family: info.family, symbol: info.symbol, decimals: info.decimals },
    policy: frozenBounds(DEFAULT_POLICY, info, dueBase, null),
    quotes: [aQuote({ amountBase: dueBase })],
  })
}

function partOf(
  one: typeof first extends fc.Arbitrary<infer T> ? T : never,
  leftBase: bigint,
  info: AssetInfo,
): bigint {
  if (one.kind === 'share') return (leftBase * one.parts) / 1_000_000n
  return leftBase - (one.kind === 'short' ? one.parts : info.dustBase + one.parts)
}

/** Everything that happens to one invoice: part payments in time, and then exactly what is asked for, in time or within the grace. */
function play(info: AssetInfo, given: typeof story extends fc.Arbitrary<infer T> ? T : never): void {
  const unit = displayUnit(info)
  const dueBase = ((info.minBase + unit - 1n) / unit) * unit * given.price.factor * 10n ** BigInt(given.price.scale)
  // More is refused when the invoice is made.
  fc.pre(dueBase <= info.maxBase)
  const paymentMethod = methodOf(info, dueBase)
  const open = { mode: 'live', createdAt: T0, expiresAt: DEADLINE, endsWithQuote: true, paymentMethod } as const
  let { state }: { state: InvoiceState } = openInvoice(open)
  const sent: PaymentObservation[] = []
  const apply = (event: InvoiceEvent, at: number): void => {
    const result = transition(state, { observations: sent, event, at })
    holds(result.outcome !== 'refused', 'nothing is refused')
    if (result.outcome !== 'refused') state = result.state
  }
  const see = (amountBase: bigint, firstSeenAt: number, rateSeen: string | null = null): void => {
    const { asset, network } = paymentMethod
    sent.push(
      aPayment({ payment: `p${sent.length}`, asset, network, amountBase, firstSeenAt, rateSeen, state: 'confirmed' }),
    )
    apply({ type: 'payments_changed' }, firstSeenAt)
  }
  for (const [index, one] of given.firsts.entries()) {
    const { dueBase: due, seenBase } = totals(state)
    const amountBase = partOf(one, due - seenBase, info)
    if (amountBase > 0n && !isPaid(state)) see(amountBase, T0 + (index + 1) * MINUTE)
    check(state, info, sent, T0 + (index + 1) * MINUTE)
  }
  if (isPaid(state)) return
  const restBase = requestedBase(state, T0 + 5 * MINUTE)
  if (given.isLate) apply({ type: 'deadline_reached' }, DEADLINE)
  see(restBase, given.isLate ? DEADLINE + MINUTE : T0 + 6 * MINUTE, '1.00')
  holds(isPaid(state), `the amount asked for pays the invoice: ${state.status} with ${restBase}`)
  holds(state.exceptions.length === 0, 'nobody has to decide anything')
  holds(!state.underpaidAccepted, 'it is no underpayment')
  check(state, info, sent, DEADLINE)
}

const isPaid = ({ status }: InvoiceState): boolean => status === 'paid'

function check(state: InvoiceState, info: AssetInfo, sent: readonly PaymentObservation[], at: number): void {
  const [paymentMethod] = state.paymentMethods
  const { dueBase, seenBase, receivedBase } = totals(state)
  const counted = sent.filter((one) => paymentMethod !== undefined && !isDust(paymentMethod, one))
  const row = (payment: string) => state.ledger.find((known) => known.payment === payment)
  const dust = sent.filter((one) => !counted.includes(one) && row(one.payment)?.counted === true)
  const sum = [...counted, ...dust].reduce((total, one) => total + one.amountBase, 0n)
  holds(receivedBase === sum, 'no money is lost, and none is counted twice')
  const restBase = requestedBase(state, at)
  const isOpen = state.status === 'pending' || state.status === 'partial'
  if (!isOpen) {
    holds(restBase === 0n, 'nothing is asked for')
    return
  }
  holds(restBase >= dueBase - seenBase, 'the rest is covered')
  holds(restBase - (dueBase - seenBase) <= info.dustBase, 'no more than dust is asked for above it')
  holds(restBase >= info.dustBase, 'the chain lets one send it')
  holds(restBase % displayUnit(info) === 0n, 'a payer can type it')
  holds(restBase <= info.maxBase, 'the chain can carry it')
  holds(dueBase - seenBase >= info.dustBase || dueBase < info.dustBase * 20n, 'no rest is below the dust')
}

// Guarantee: whatever was paid before, paying exactly what is asked for pays the invoice, and nobody has to look at it.
describe('the amount asked for after part payments', () => {
  it.each(ASSET_IDS)('pays %s', { timeout: 120_000 }, (asset) => {
    const info = catalog.asset(asset)
    fc.assert(
      fc.property(story, (given) => play(info, given)),
      RUNS,
    )
  })
})
