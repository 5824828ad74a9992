import type { ExceptionKind } from '#shared/domain/enumerations.ts'

/** Titles of exceptions, in pages and mails. */
export const EXCEPTION_TITLES: Readonly<Record<ExceptionKind, string>> = {
  late: 'Late payment',
  partial: 'Underpaid at expiry',
  over: 'Overpaid',
  wrong_asset: 'Wrong coin',
  wrong_network: 'Wrong network',
  unmatched: 'Unmatched payment',
  cancelled_paid: 'Paid after cancellation',
  reorged: 'Payment reversed by the network',
  stuck: 'Confirming for over a day',
  many_payments: 'Many payments',
  out_of_quote: 'No price locked',
  unexplained_balance: 'Unexplained balance',
  refund_uncovered: 'Refund exceeds confirmed money',
  halted_chain: 'Network trouble',
  failing_endpoint: 'Endpoint failing',
  outbox_blocked: 'Webhook events blocked',
  invoice_blocked: 'Invoice cannot be updated',
  addresses_low: 'Few addresses left',
  visitors_limited: 'Visitors are waiting',
}

/** Beginning of the text that names the workspace's own invoices in an exception about unmatched money. */
const DISPUTE = ' The address was shown on two invoices lately'

/** Text added to an exception when the money may be for one of two invoices of the workspace; `named` lists their numbers. */
export function disputeDetail(named: string): string {
  return `${DISPUTE} and the amount is not exactly what the later one asks for: it may be for ${named}. Apply it to the right one.`
}

/** The text of an exception without the invoices that it names, for another workspace. */
export function undisputedDetail(detail: string): string {
  const at = detail.indexOf(DISPUTE)
  return at < 0 ? detail : detail.slice(0, at)
}
