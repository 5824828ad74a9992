import type { ChainStatus } from '#shared/contracts/chain-status.ts'
import type { NetworkId } from '#shared/domain/enumerations.ts'
import { activePaymentMethod, type InvoiceState } from '#shared/domain/invoice/model.ts'
import { claimedOf, isLive, settlement, totals } from '#shared/domain/invoice/totals.ts'
import { formatUnits } from '#shared/domain/money/money.ts'
import { NETWORKS } from '#shared/domain/networks.ts'
import type { PaymentExplanation } from './explain-payment.ts'

/** Thresholds for blocks behind the head, and for silence of the node, that may hide a payment. */
const LAG_MAX_BLOCKS = 10
const SILENCE_MAX_MS = 120_000

/** Input of the conclusion. */
export interface UnpaidScene {
  readonly state: InvoiceState
  readonly payments: readonly PaymentExplanation[]
  readonly unapplied: boolean
  readonly unheld: readonly PaymentExplanation[]
  /** Text of an open exception about a balance that payments do not explain; null without one. */
  readonly unexplained: string | null
  /** The scanner's position on the chain that is furthest behind among those that can still pay the invoice; null without an asset. */
  readonly chain:
    | (Omit<ChainStatus, 'facts' | 'row' | 'open' | 'network' | 'mode'> & { readonly network: NetworkId })
    | null
}

/** One sentence that answers "why is this not paid?", with the most likely reason first. Pure. */
export function unpaidReason(scene: UnpaidScene): string {
  const { state } = scene
  if (state.status === 'paid') return state.underpaidAccepted ? 'Paid: a smaller amount was accepted.' : 'Paid.'
  if (state.status === 'overpaid') return 'Overpaid.'
  const reason =
    notRequested(scene) ??
    waiting(scene) ??
    uncounted(scene) ??
    unexplained(scene) ??
    scannerTrouble(scene) ??
    tooLittle(scene) ??
    nothing(scene)
  const over = state.status === 'expired' ? ` It expired at ${new Date(state.expiresAt).toISOString()}.` : ''
  return `${reason}${over}`
}

function notRequested({ state }: UnpaidScene): string | null {
  if (activePaymentMethod(state) === null) return 'Not paid: the customer never chose a coin, so no address was shown.'
  if (state.status !== 'cancelled') return null
  const arrived = totals(state).receivedBase > 0n
  return `Not paid: it was cancelled.${arrived ? ' A payment that arrived afterwards needs a decision under Exceptions.' : ''}`
}

/** Payments are pending. */
function waiting({ state, payments, unapplied, chain }: UnpaidScene): string | null {
  if (unapplied) return 'Not paid yet: a stored payment has not been applied. Is the invoices process running?'
  if (state.status !== 'confirming') return null
  if (chain?.status === 'halted')
    return `Not paid yet: its payment is waiting for confirmations and the scanner is halted. ${chain.haltReason}`
  const slowest = payments.find((payment) => payment.eligible && payment.state === 'detected')
  const isStuck = state.exceptions.some((open) => open.exception === 'stuck')
  const since = isStuck ? 'has been waiting for confirmations for more than a day' : 'is waiting for confirmations'
  return `Not paid yet: its payment ${since}. ${slowest?.words ?? 'The sum of small payments is not confirmed.'}`
}

/** Payments arrived that do not count. */
function uncounted({ state, payments }: UnpaidScene): string | null {
  if (settlement(state, 'seen').base + claimedOf(state) > 0n) return null
  const foreign = payments.find((payment) => isLive(payment) && !payment.eligible)
  const amount = (payment: PaymentExplanation) =>
    `${payment.amount ?? payment.amountBase} ${payment.asset ?? 'of a token'}`
  if (foreign !== undefined)
    return `Not paid: the payment received does not pay it. ${amount(foreign)}: ${foreign.words}`
  const gone = payments.find((payment) => !isLive(payment))
  return gone === undefined ? null : `Not paid: its payment is gone. ${amount(gone)}: ${gone.words}`
}

function unexplained({ unexplained: detail }: UnpaidScene): string | null {
  return detail === null ? null : `Not paid: its address holds a balance that no applied payment explains. ${detail}`
}

function scannerTrouble({ chain }: UnpaidScene): string | null {
  if (chain === null || !chain.hasNode) return null
  const name = NETWORKS[chain.network].name
  if (chain.status === 'never_scanned')
    return `Not paid: ${name} has not been scanned yet. Is a scanner process running?`
  const where = `Not paid: the ${name} scanner is at block ${chain.height}`
  if (chain.status === 'halted') return `${where} and is halted: ${chain.haltReason}`
  if (chain.stuck !== null)
    return `${where} and is stuck: ${chain.stuck.sentence} A payment may be in blocks that are not scanned yet.`
  if ((chain.lagBlocks ?? 0) > LAG_MAX_BLOCKS) {
    return `${where}, ${chain.lagBlocks} blocks behind its node. A payment may be in blocks that are not scanned yet.`
  }
  if ((chain.headAgeMs ?? 0) > SILENCE_MAX_MS) {
    return `${where}, and its node has not responded for ${Math.round((chain.headAgeMs ?? 0) / 1_000)} s.`
  }
  return null
}

function tooLittle({ state }: UnpaidScene): string | null {
  const paymentMethod = activePaymentMethod(state)
  const { base: seenBase, dueBase } = settlement(state, 'seen')
  const claimed = claimedOf(state)
  if (paymentMethod === null || seenBase + claimed === 0n) return null
  const units = (base: bigint) => `${formatUnits(base, paymentMethod.decimals)} ${paymentMethod.symbol}`
  const taken = claimed > 0n ? `, and refunds take ${units(claimed)} of it` : ''
  return `Partly paid: ${formatUnits(seenBase + claimed, paymentMethod.decimals)} of ${units(dueBase)} received${taken}, ${units(dueBase - seenBase)} to go.`
}

function nothing({ state, chain, unheld }: UnpaidScene): string {
  const [unmatched] = unheld
  if (unmatched !== undefined) {
    return `Not paid: no payment matches it. ${unmatched.amount ?? unmatched.amountBase} ${unmatched.asset ?? 'of a token'} arrived at its address and matches no invoice (payment ${unmatched.id}).`
  }
  const lead = state.status === 'expired' ? 'Not paid: nothing received' : 'Waiting for payment: nothing received yet'
  if (chain === null || !chain.hasNode)
    return `${lead}. No node is connected for ${chain === null ? 'this network' : NETWORKS[chain.network].name}, so you can only simulate payments.`
  return `${lead} (checked up to block ${(chain.height ?? 0).toLocaleString('en-US')}).`
}
