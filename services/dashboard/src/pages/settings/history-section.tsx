import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { trpc } from '../../api/trpc.ts'
import { useCursorPages } from '../../parts/table/use-cursor-pages.ts'
import { useUrlFilters } from '../../parts/table/use-url-filters.ts'
import { useScope } from '../../session/scope.ts'
import { AUDIT_FILTERS, AuditFilters, auditInput } from '../audit/audit-filters.tsx'
import { AuditTable } from '../audit/audit-table.tsx'

/** The audit log of the workspace, both modes. */
export function HistorySection() {
  const scope = useScope()
  const { filters, set } = useUrlFilters(AUDIT_FILTERS)
  const pages = useCursorPages()
  const input = { ...scope, ...auditInput(filters), cursor: pages.cursor }
  const rows = useQuery(trpc.audit.list.queryOptions(input, { placeholderData: keepPreviousData }))
  return (
    <div className="pm-stack">
      <AuditFilters filters={filters} set={set} />
      <AuditTable query={rows} page={rows.data} pages={pages} />
    </div>
  )
}
