import { exportPayments } from '#shared/usecases/reports/export-payments.ts'
import type { AdminDeps } from './assemble.ts'
import { exportRoute } from './export-route.ts'
import { paymentFilters } from './wire/list-filters.ts'

/** `POST /export/payments.csv`: the payments that the list shows under the same filters, oldest first. */
export const exportPaymentsRoute = (deps: AdminDeps) =>
  exportRoute(deps, {
    what: 'payments',
    filters: paymentFilters,
    lines: (asked, onRows) => exportPayments(deps.money, asked, onRows),
  })
