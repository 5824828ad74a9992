import { activeLock, type InvoiceState } from '#shared/domain/invoice/model.ts'
import { isLive, neededBase, totals } from '#shared/domain/invoice/totals.ts'
import { formatUnits } from '#shared/domain/money/amount.ts'
import type { ChainStatus } from '#shared/usecases/networks/chain-status.ts'
import type { PaymentExplanation } from './explain-payment.ts'

/** Blocks behind the head, and silence of the node, that may hide a payment. */
const LAG_MAX_BLOCKS = 10
const SILENCE_MAX_MS = 120_000

/** What the last line is decided by. */
export interface UnpaidScene {
  readonly state: InvoiceState
  readonly payments: readonly PaymentExplanation[]
  readonly unapplied: boolean
  readonly unheld: readonly PaymentExplanation[]
  /** What the inbox says of a balance that payments do not explain; null when it says nothing. */
  readonly unexplained: string | null
  /** Where the scanner of the invoice's chain stands; null without an asset. */
  readonly chain: (Omit<ChainStatus, 'open' | 'network' | 'mode'> & { readonly network: string }) | null
}

/** One sentence that answers "why is this not paid?", the most telling reason first. Pure. */
export function unpaidReason(scene: UnpaidScene): string {
  const { state } = scene
  if (state.status === 'paid') return `Paid${state.underpaidAccepted ? ', less than asked for was accepted' : ''}.`
  if (state.status === 'overpaid') return 'Paid, and more than asked for.'
  const reason =
    notAsked(scene) ??
    waiting(scene) ??
    uncounted(scene) ??
    unexplained(scene) ??
    scannerTrouble(scene) ??
    tooLittle(scene) ??
    nothing(scene)
  const over = state.status === 'expired' ? ` It expired at ${new Date(state.expiresAt).toISOString()}.` : ''
  return `Not paid because ${reason}${over}`
}

function notAsked({ state }: UnpaidScene): string | null {
  if (activeLock(state) === null) return 'no asset was chosen, so that no address was ever shown to the payer.'
  if (state.status !== 'cancelled') return null
  const arrived = totals(state).receivedBase > 0n
  return `it was cancelled.${arrived ? ' Money that came afterwards waits in the inbox for an operator.' : ''}`
}

/** Money is there and on its way. */
function waiting({ state, payments, unapplied, chain }: UnpaidScene): string | null {
  if (unapplied) return 'a stored payment is not applied to it yet: is the invoices process running?'
  if (state.status !== 'confirming') return null
  if (chain?.status === 'halted')
    return `its payment waits for confirmations and the scanner is halted: ${chain.haltReason}`
  const slowest = payments.find((payment) => payment.eligible && payment.state === 'detected')
  const stuck = state.exceptions.some((open) => open.exception === 'stuck') ? ' for more than a day' : ''
  return `its payment has been waiting to be confirmed${stuck}: ${slowest?.words ?? 'the sum of small payments is not confirmed.'}`
}

/** Money arrived that does not count. */
function uncounted({ state, payments }: UnpaidScene): string | null {
  if (totals(state).seenBase > 0n) return null
  const foreign = payments.find((payment) => isLive(payment) && !payment.eligible)
  const amount = (payment: PaymentExplanation) =>
    `${payment.amount ?? payment.amountBase} ${payment.asset ?? 'of a token'}`
  if (foreign !== undefined) return `what arrived does not settle it. ${amount(foreign)}: ${foreign.words}`
  const gone = payments.find((payment) => !isLive(payment))
  return gone === undefined ? null : `its payment did not last. ${amount(gone)}: ${gone.words}`
}

function unexplained({ unexplained: detail }: UnpaidScene): string | null {
  return detail === null ? null : `its address holds money that no counted payment explains. ${detail}`
}

function scannerTrouble({ chain }: UnpaidScene): string | null {
  if (chain === null || !chain.hasNode) return null
  if (chain.status === 'never_scanned') return `nobody has scanned ${chain.network} yet: is a scanner process running?`
  const where = `the scanner of ${chain.network} stands at block ${chain.height}`
  if (chain.status === 'halted') return `${where} and is halted: ${chain.haltReason}`
  if (chain.stuck !== null)
    return `${where} and is stuck: ${chain.stuck.sentence} A payment may lie in blocks not read yet.`
  if ((chain.lagBlocks ?? 0) > LAG_MAX_BLOCKS) {
    return `${where}, ${chain.lagBlocks} behind its node: a payment may lie in blocks not read yet.`
  }
  if ((chain.headAgeMs ?? 0) > SILENCE_MAX_MS) {
    return `${where} and heard nothing from its node for ${Math.round((chain.headAgeMs ?? 0) / 1_000)} s.`
  }
  return null
}

function tooLittle({ state }: UnpaidScene): string | null {
  const lock = activeLock(state)
  const { seenBase, dueBase } = totals(state)
  if (lock === null || seenBase === 0n) return null
  const units = (base: bigint) => `${formatUnits(base, lock.decimals)} ${lock.symbol}`
  return `${units(seenBase)} of ${units(dueBase)} arrived; ${units(neededBase(state, dueBase) - seenBase)} are missing.`
}

function nothing({ state, chain, unheld }: UnpaidScene): string {
  const lock = activeLock(state)
  const [stray] = unheld
  if (stray !== undefined) {
    return `nothing arrived that is known to be meant for it. ${stray.amount ?? stray.amountBase} ${stray.asset ?? 'of a token'} came to its address and matches no invoice (payment ${stray.id}).`
  }
  const asked = `nothing arrived at ${lock?.address} (${lock?.symbol} on ${lock?.network})`
  if (chain === null || !chain.hasNode)
    return `${asked}; no node watches ${lock?.network} here, so only simulated payments come.`
  return `${asked} up to block ${chain.height}.`
}
