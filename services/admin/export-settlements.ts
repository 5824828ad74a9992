import { exportSettlements } from '#shared/usecases/reports/export-settlements.ts'
import type { AdminDeps } from './assemble.ts'
import { exportRoute } from './export-route.ts'
import { createdFilters } from './wire/list-filters.ts'

/** `POST /export/settlements.csv`: what each wallet received of each coin on each UTC day, newest first. */
export const exportSettlementsRoute = (deps: AdminDeps) =>
  exportRoute(deps, {
    what: 'settlements',
    filters: createdFilters,
    lines: (asked, onRows) => exportSettlements(deps.money, asked, onRows),
  })
