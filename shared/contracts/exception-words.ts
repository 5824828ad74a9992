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
