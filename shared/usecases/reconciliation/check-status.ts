import { activePaymentMethod, type InvoiceState, type LedgerRow, nextActionAt } from '#shared/domain/invoice/model.ts'
import { statusBySums } from '#shared/domain/invoice/settle.ts'
import { holdingMethod, isDust, isLive, isSettled, settlement } from '#shared/domain/invoice/totals.ts'
import type { Invoice } from '#shared/ports/invoices.ts'
import type { Payment } from '#shared/ports/payments.ts'
import type { ChainHeight, InvoiceRecords } from '#shared/ports/reconciliation.ts'
import type { Finding } from './violation.ts'

/** The status follows from the ledger, and every field that depends on the status matches it. */
export function checkStatus({ terms, state }: Invoice): readonly Finding[] {
  const { status, version } = state
  const computed = statusBySums(state, Number.NEGATIVE_INFINITY)
  const faults: readonly (readonly [boolean, string])[] = [
    [computed !== status, `it is ${status}, but its ledger requires ${computed}`],
    [!Number.isInteger(version) || version < 1, `it has version ${version}`],
    [version === 1 && status !== 'new' && status !== 'pending', `it is ${status} in its first version`],
    [state.mode !== terms.mode, `its state is of ${state.mode}`],
    [state.updatedAt < state.createdAt, 'it changed before it was created'],
    [hasWrongMethods(state), `it is ${status} with ${openMethods(state)} open locks of ${state.paymentMethods.length}`],
    [(state.paidAt !== null) !== isSettled(state), `it is ${status} and was paid at ${state.paidAt}`],
    [
      (state.confirmingSince !== null) !== (status === 'confirming'),
      `it is ${status} and confirms since ${state.confirmingSince}`,
    ],
    [
      state.nextActionAt !== nextActionAt(state),
      `its clock is set to ${state.nextActionAt}, not ${nextActionAt(state)}`,
    ],
  ]
  return faults.flatMap(([isWrong, words]) => (isWrong ? [{ invariant: 'status' as const, words }] : []))
}

const openMethods = (state: InvoiceState): number => state.paymentMethods.filter(({ to }) => to === null).length

/** An asset is fixed from `pending` on; an invoice that ended earlier never had one. */
function hasWrongMethods(state: InvoiceState): boolean {
  if (state.status === 'new') return state.paymentMethods.length > 0
  const mayHaveNone = state.status === 'expired' || state.status === 'cancelled'
  return openMethods(state) !== (state.paymentMethods.length === 0 && mayHaveNone ? 0 : 1)
}

/** Paid means that confirmed money covered the amount due, or that an operator accepted it. Money that vanished later counts while its exception is open. */
export function checkPaid({ invoice, payments }: InvoiceRecords): readonly Finding[] {
  const { state } = invoice
  if (!isSettled(state)) return []
  const lost = { rows: lostRows(state), unlistedBase: lostDustBase(state, payments) }
  const { base: coveredBase, neededBase: needed, dueBase, ...found } = settlement(state, 'settled', lost)
  const byText = state.underpaidAccepted && state.ledger.some(({ acceptedBase }) => acceptedBase !== null)
  if (!found.isEnough && !byText)
    return [{ invariant: 'paid_in_full', words: `it is ${state.status} with ${coveredBase} of ${needed} base units` }]
  if (state.status === 'overpaid' && !found.isTooMuch)
    return [{ invariant: 'paid_in_full', words: `it is overpaid with ${coveredBase} of ${dueBase} base units` }]
  return []
}

/** Money that settled the invoice and left its chain, as far as it was reported, or came back and is not deep enough again. */
function lostRows(state: InvoiceState): readonly LedgerRow[] {
  const published = new Set(
    state.exceptions.filter(({ exception }) => exception === 'reorged').map(({ payment }) => payment),
  )
  return state.ledger.filter((row) => {
    const isLost = isLive(row) ? row.state === 'detected' && row.confirmed : published.has(row.payment)
    return row.counted && row.eligible && isLost
  })
}

/** No exception is opened for payments without separate rows; vanished ones may have counted. */
function lostDustBase({ paymentMethods, ledger }: InvoiceState, payments: readonly Payment[]): bigint {
  const listed = new Set(ledger.map((row) => row.payment))
  const isDustOf = (payment: Payment): boolean => {
    const paymentMethod = paymentMethods[holdingMethod(paymentMethods, payment) ?? -1]
    return paymentMethod !== undefined && isDust(paymentMethod, { amountBase: payment.amountBase, simulated: false })
  }
  const gone = payments.filter((payment) => !listed.has(payment.key) && !isLive(payment) && !isDustOf(payment))
  return gone.reduce((total, { amountBase }) => total + amountBase, 0n)
}

/**
 * Payments confirmed in the ledger have the required depth in their chain. A cursor may be set back briefly while a branch is
 * replaced, so the newest known block counts; a cursor below the payment's block is that of a restarted chain.
 */
export function checkDepth({ invoice, payments }: InvoiceRecords, cursors: readonly ChainHeight[]): readonly Finding[] {
  const { state, terms } = invoice
  const demanded = activePaymentMethod(state)?.requiredConfirmations ?? 1
  const own = new Map(payments.map((payment) => [payment.key, payment]))
  return state.ledger.flatMap((row): readonly Finding[] => {
    const payment = own.get(row.payment)
    const counts = row.counted && row.state === 'confirmed' && payment?.version === row.version
    if (!counts || payment.kind === 'simulated' || payment.state !== 'confirmed') return []
    const found = (words: string): readonly Finding[] => [{ invariant: 'paid_in_full', words, paymentKey: row.payment }]
    const { block, requiredConfirmations: required } = payment
    if (block === null) return found('it is confirmed in no block')
    if (row.acceptedBase === null && required < demanded)
      return found(`it was confirmed with ${required} confirmations, the invoice demands ${demanded}`)
    const cursor = cursors.find(({ mode, network }) => mode === terms.mode && network === payment.network)
    const depth = cursor === undefined ? required : Math.max(cursor.height, cursor.headHeight) - block.height + 1
    return depth >= required || depth < 1 ? [] : found(`it is confirmed with ${depth} of ${required} confirmations`)
  })
}
