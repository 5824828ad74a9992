import { actionLabel, actorLabel } from '#shared/contracts/audit-labels.ts'
import type { api } from '../../api/trpc.ts'
import { CopyText } from '../../parts/copy-text.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { DataTable } from '../../parts/table/data-table.tsx'
import type { CursorPages } from '../../parts/table/use-cursor-pages.ts'
import { Time } from '../../parts/time.tsx'
import { UntrustedText } from '../../parts/untrusted-text.tsx'

type AuditPageOfRows = Awaited<ReturnType<typeof api.audit.list.query>>
type Row = AuditPageOfRows['items'][number]

interface AuditTableProps {
  readonly query: Parameters<typeof DataTable<Row>>[0]['query']
  readonly page: AuditPageOfRows | undefined
  readonly pages: CursorPages
}

/** Rows of the audit log: actor, action, object, time and reason. */
export function AuditTable({ query, page, pages }: AuditTableProps) {
  return (
    <DataTable
      what="actions"
      query={query}
      rows={page?.items}
      idOf={({ id }) => id}
      pages={pages}
      nextCursor={page?.nextCursor}
      empty={<EmptyState title="No actions match." text="Every action is recorded here, with who did it and why." />}
      columns={[
        { header: 'When', cell: ({ at }) => <Time at={at} detail /> },
        { header: 'Actor', namesItself: true, cell: ({ actor }) => <UntrustedText>{actorLabel(actor)}</UntrustedText> },
        {
          header: 'Action',
          namesItself: true,
          cell: ({ action, mode }) => `${actionLabel(action)}${mode === 'test' ? ' (test)' : ''}`,
        },
        {
          header: 'Target',
          cell: ({ subject }) => (
            <span className="pm-nowrap">
              <CopyText text={subject} what="ID" short={subject.length > 20} />
            </span>
          ),
        },
        { header: 'Details', wide: true, cell: ({ detail }) => <Detail detail={detail} /> },
        { header: '#', wide: true, align: 'right', cell: ({ seq }) => seq ?? <span className="pm-dim">pending</span> },
      ]}
    />
  )
}

function Detail({ detail }: { readonly detail: Row['detail'] }) {
  return (
    <span className="pm-small">
      {Object.entries(detail).map(([name, value], index) => (
        <span key={name}>
          {index === 0 ? '' : ' · '}
          {name}: <UntrustedText>{String(value ?? '–')}</UntrustedText>
        </span>
      ))}
    </span>
  )
}
