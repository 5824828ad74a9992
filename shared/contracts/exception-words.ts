import type { ExceptionKind } from '#shared/domain/enumerations.ts'

/** What an entry of the operators' inbox is called, in pages and mails. */
export const EXCEPTION_TITLES: Readonly<Record<ExceptionKind, string>> = {
  late: 'Late payment',
  partial: 'Underpaid at expiry',
  over: 'Overpaid',
  wrong_asset: 'Wrong coin',
  wrong_network: 'Wrong network',
  unmatched: 'Unmatched money',
  cancelled_paid: 'Paid after cancel',
  reorged: 'Payment left the chain',
  stuck: 'Confirming for over a day',
  many_payments: 'Many payments',
  out_of_quote: 'Outside every price',
  unexplained_balance: 'Unexplained balance',
  halted_chain: 'Chain halted',
  failing_endpoint: 'Endpoint failing',
  outbox_blocked: 'Announcements blocked',
  addresses_low: 'Few addresses left',
  visitors_limited: 'Visitors had to wait',
}

/** How an entry about unmatched money begins to name its workspace's own invoices. */
const DISPUTE = ' The address was shown on two invoices lately'

/** What an entry adds when the money may be for one of two invoices of the workspace; `named` lists their numbers. */
export function disputeDetail(named: string): string {
  return `${DISPUTE} and the amount is not exactly what the later one asks for: it may be for ${named}. Attach it to the right one.`
}

/** The text of an entry without the invoices that it names, for an inbox of another workspace. */
export function undisputedDetail(detail: string): string {
  const at = detail.indexOf(DISPUTE)
  return at < 0 ? detail : detail.slice(0, at)
}
