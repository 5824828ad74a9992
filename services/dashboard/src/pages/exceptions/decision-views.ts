import { trpc } from '../../api/trpc.ts'

/** What shows the outcome of a decision: refetched after one. */
export const DECISION_VIEWS = [trpc.exceptions, trpc.invoices, trpc.payments, trpc.overview].map((one) =>
  one.pathFilter(),
)
