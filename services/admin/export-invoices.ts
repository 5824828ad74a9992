import { readInvoiceSearch } from '#shared/usecases/invoices/invoice-search.ts'
import { exportInvoices } from '#shared/usecases/reports/export-invoices.ts'
import type { AdminDeps } from './assemble.ts'
import { exportRoute } from './export-route.ts'
import { invoiceFilters } from './wire/list-filters.ts'

/** `POST /export/invoices.csv`: the invoices that the list shows under the same filters, paid or not, newest first. */
export const exportInvoicesRoute = (deps: AdminDeps) =>
  exportRoute(deps, {
    what: 'invoices',
    filters: invoiceFilters,
    lines: ({ q, from, to, ...asked }, onRows) => {
      const search = q === '' ? null : readInvoiceSearch(deps.money.guessAddress, asked.mode, q)
      return exportInvoices(deps.money, { ...asked, createdFrom: from, createdTo: to, search }, onRows)
    },
  })
