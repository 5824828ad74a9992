import type { api } from '../../api/trpc.ts'
import { CopyText } from '../../parts/copy-text.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { ForeignText } from '../../parts/foreign-text.tsx'
import { DataTable } from '../../parts/table/data-table.tsx'
import type { CursorPages } from '../../parts/table/use-cursor-pages.ts'
import { Time } from '../../parts/time.tsx'

type AuditPageOfRows = Awaited<ReturnType<typeof api.audit.list.query>>
type Row = AuditPageOfRows['items'][number]

interface AuditTableProps {
  readonly query: Parameters<typeof DataTable<Row>>[0]['query']
  readonly page: AuditPageOfRows | undefined
  readonly pages: CursorPages
}

/** Rows of the audit trail: who did what to what, when and why. */
export function AuditTable({ query, page, pages }: AuditTableProps) {
  return (
    <DataTable
      what="deeds"
      query={query}
      rows={page?.items}
      idOf={({ id }) => id}
      pages={pages}
      nextCursor={page?.nextCursor}
      empty={
        <EmptyState title="Nothing matches." text="Every deed of a person is written here, with who did it and why." />
      }
      columns={[
        { header: 'When', cell: ({ at }) => <Time at={at} detail /> },
        { header: 'Who', cell: ({ actor }) => <ForeignText>{actor.replace(/^user:/, '')}</ForeignText> },
        {
          header: 'Did',
          cell: ({ action, mode }) => `${action.replaceAll(/[._]/g, ' ')}${mode === 'test' ? ' (test)' : ''}`,
        },
        {
          header: 'To',
          cell: ({ subject }) => (
            <span className="pm-nowrap">
              <CopyText text={subject} what="ID" short={subject.length > 20} />
            </span>
          ),
        },
        { header: 'With', wide: true, cell: ({ detail }) => <Detail detail={detail} /> },
        { header: 'Row', wide: true, align: 'right', cell: ({ seq }) => seq ?? <span className="pm-dim">waits</span> },
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
          {name}: <ForeignText>{String(value ?? '–')}</ForeignText>
        </span>
      ))}
    </span>
  )
}
