import type { HashAnswer, HashVerdict } from '#shared/contracts/checkout/invoice-view.ts'
import { PaymeshError } from '#shared/contracts/errors.ts'
import { invalid } from '#shared/contracts/http/validate.ts'
import { type Mode, NETWORK_IDS, type NetworkId } from '#shared/domain/enumerations.ts'
import { type PaymentMethod, payableNetworks, type UncountedReason } from '#shared/domain/invoice/model.ts'
import type { Invoice } from '#shared/ports/invoices.ts'
import { familyOf } from '#shared/usecases/payments/attribute-transfers.ts'
import { type ExplainTransactionDeps, explainTransaction, type TransactionExplanation } from './explain-transaction.ts'

/** Dependencies of answering a payer's question about a transaction; it never writes. */
export interface AnswerPaidHashDeps extends Omit<ExplainTransactionDeps, 'client'> {
  /** A node of the network; null when there is none. */
  readonly clientOf: (mode: Mode, network: NetworkId) => ExplainTransactionDeps['client']
}

/** 64 hex digits, with or without 0x: every network but Solana. */
const HEX = /^(0x)?[0-9a-f]{64}$/i
/** A Solana signature: 64 bytes in base58. */
const BASE58 = /^[1-9A-HJ-NP-Za-km-z]{80,88}$/

const NOWHERE = { network: null, confirmations: null, requiredConfirmations: null } as const

/**
 * Explains to a payer what happened to a transaction, without revealing other people's data: first from stored
 * records of any network, then from the nodes, the invoice's own networks first. Throws `NOT_FOUND` for an
 * unknown invoice and `VALIDATION_ERROR` with path `txHash` for text that is not a transaction ID.
 */
export async function answerPaidHash(
  deps: AnswerPaidHashDeps,
  { invoiceId, txHash }: { readonly invoiceId: string; readonly txHash: string },
): Promise<HashAnswer> {
  const invoice = await deps.invoices.findById(invoiceId)
  if (invoice === null) throw new PaymeshError('NOT_FOUND')
  const networks = networksOf(deps, invoice, txHash)
  const explain = (network: NetworkId, client: ExplainTransactionDeps['client']) =>
    explainTransaction({ ...deps, client }, { mode: invoice.terms.mode, network, txHash })
  const stored = await Promise.all(networks.map((network) => explain(network, null)))
  const mine = best(stored.flatMap((known) => storedAnswers(invoice, known)))
  if (mine !== null) return mine
  const own = payableNetworks(invoice.state)
  const answers = await Promise.all(
    networks.map(async (network) => {
      const client = deps.clientOf(invoice.terms.mode, network)
      if (client === null && !own.includes(network)) return null
      const answer = nodeAnswer(invoice, await explain(network, client))
      // A silent node of another network proves little: the result depends on the networks on which the invoice can be paid.
      return answer.verdict === 'cannot_look' && !own.includes(network) ? null : answer
    }),
  )
  return best(answers.filter((answer) => answer !== null)) ?? { verdict: 'cannot_look', ...NOWHERE }
}

/** Networks whose transactions may have this id, the invoice's own first. */
function networksOf(deps: AnswerPaidHashDeps, { state }: Invoice, txHash: string): readonly NetworkId[] {
  if (!HEX.test(txHash) && !BASE58.test(txHash)) {
    throw invalid([{ path: 'txHash', message: 'is not a transaction ID' }])
  }
  const fits = NETWORK_IDS.filter((network) => (familyOf(deps.catalog, network) === 'solana') !== HEX.test(txHash))
  const own = payableNetworks(state).filter((network) => fits.includes(network))
  return [...own, ...fits.filter((network) => !own.includes(network))]
}

/** Ordered by how much each verdict says. */
const RANK: readonly HashVerdict[] = [
  'counted',
  'confirming',
  'late',
  'wrong_asset',
  'wrong_network',
  'too_small',
  'not_counted',
  'gone',
  'not_read_yet',
  'unconfirmed',
  'failed',
  'elsewhere',
  'not_ours',
  'cannot_look',
  'unknown',
]

function best(answers: readonly HashAnswer[]): HashAnswer | null {
  const rank = ({ verdict }: HashAnswer) => RANK.indexOf(verdict)
  return [...answers].sort((left, right) => rank(left) - rank(right))[0] ?? null
}

const UNCOUNTED: Readonly<Record<UncountedReason, HashVerdict>> = {
  wrong_asset: 'wrong_asset',
  wrong_network: 'wrong_network',
  inactive_payment_method: 'wrong_asset',
  out_of_quote: 'late',
  unmatched: 'not_counted',
  dust: 'too_small',
}

function storedAnswers({ terms, state }: Invoice, known: TransactionExplanation): readonly HashAnswer[] {
  return known.stored.map((payment) => {
    const { confirmations, requiredConfirmations } = payment
    const place = { network: known.network, confirmations, requiredConfirmations }
    if (payment.invoiceId !== terms.id)
      return { verdict: 'elsewhere', ...place, confirmations: null, requiredConfirmations: null }
    if (payment.state !== 'detected' && payment.state !== 'confirmed') return { verdict: 'gone', ...place }
    if (!payment.counted) {
      const row = state.ledger.find((known) => known.payment === payment.key)
      const reason = row?.uncountedReason ?? (payment.isDust ? 'dust' : 'unmatched')
      return { verdict: UNCOUNTED[reason], ...place }
    }
    if (!payment.eligible) return { verdict: 'late', ...place }
    return { verdict: payment.state === 'confirmed' ? 'counted' : 'confirming', ...place }
  })
}

function nodeAnswer({ state }: Invoice, known: TransactionExplanation): HashAnswer {
  const { node, network } = known
  const here = { network, confirmations: null, requiredConfirmations: null }
  if (node === 'unknown' || node === 'not_in_block') return { verdict: 'unknown', ...NOWHERE }
  if (node === 'cannot_be_queried' || node === 'unreachable' || node === 'not_queried')
    return { verdict: 'cannot_look', ...NOWHERE }
  if (node === 'unconfirmed') return { verdict: 'unconfirmed', ...here }
  if (!node.succeeded) return { verdict: 'failed', ...here }
  const paid = known.transfers.filter(({ toAddress }) =>
    state.paymentMethods.some((paymentMethod) => isAddress(paymentMethod, toAddress)),
  )
  if (paid.length === 0) {
    return { verdict: known.transfers.some(({ ours }) => ours) ? 'elsewhere' : 'not_ours', ...here }
  }
  if (!state.paymentMethods.some((paymentMethod) => paymentMethod.network === network))
    return { verdict: 'wrong_network', ...here }
  if (!paid.some(({ asset }) => state.paymentMethods.some((paymentMethod) => paymentMethod.asset === asset)))
    return { verdict: 'wrong_asset', ...here }
  const isRead = known.scannerHeight !== null && known.scannerHeight >= node.height
  return { verdict: isRead ? 'not_counted' : 'not_read_yet', ...here }
}

/** EVM addresses differ only in the capitals of their checksum. */
function isAddress({ address, family }: PaymentMethod, text: string): boolean {
  return family === 'evm' ? address.toLowerCase() === text.toLowerCase() : address === text
}
