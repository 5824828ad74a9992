import { Button } from '@mantine/core'
import { IconChevronLeft, IconChevronRight } from '@tabler/icons-react'
import { type ReactNode, useEffect, useRef } from 'react'
import { Link, useNavigate } from 'react-router'
import { announce } from '../../frame/announcer.tsx'
import { EmptyState } from '../empty-state.tsx'
import { LoadError } from '../load-error.tsx'
import { RowsSkeleton } from '../page-skeleton.tsx'
import { useLate } from '../use-late.ts'
import { CardTable } from './card-table.tsx'
import type { Column } from './column.ts'
import { sortRows, useSorting } from './list-order.ts'
import type { CursorPages } from './use-cursor-pages.ts'
import { useFocusAfterClose } from './use-focus-after-close.ts'
import { type RowsQuery, useFrozenRows } from './use-frozen-rows.ts'
import { useReturnToRow } from './use-return-to-row.ts'
import { useStartOfPage } from './use-start-of-page.ts'

export interface DataTableProps<T> {
  /** Name of the rows, in lower-case plural: "invoices". */
  readonly what: string
  readonly columns: readonly Column<T>[]
  readonly query: RowsQuery
  readonly rows: readonly T[] | undefined
  readonly idOf: (row: T) => string
  /** Target of a row: one column becomes the link, the whole row can be clicked. */
  readonly to?: (row: T) => string
  readonly selectedId?: string | undefined
  readonly empty: ReactNode
  /** Removes the filters that leave nothing; null, or absent, while none is set. */
  readonly clear?: (() => void) | null
  /** Rows come in pages: the cursor of the next page, null on the last. */
  readonly pages?: CursorPages
  readonly nextCursor?: string | null | undefined
  readonly foot?: ReactNode
  /** The query parameter that opens a detail next to the list and is not a filter. */
  readonly detailParam?: string
}

/**
 * Rows with the states loading, failed and empty. Every query parameter of the URL is a filter of the list: while the rows of
 * a new filter load, the previous ones are greyed out and disabled. J and K move, Enter opens, C copies the id.
 */
export function DataTable<T>(props: DataTableProps<T>) {
  const { query, rows, pages, what } = props
  const late = useLate(query.isPending)
  const { order, sorting } = useSorting()
  const held = useFrozenRows(query, rows ?? [], props.idOf, props.detailParam)
  useNewRowsAnnounced(what, held.waiting)
  const card = useRef<HTMLDivElement>(null)
  useStartOfPage(card, pages?.cursor)
  useFocusAfterClose(card, props.selectedId)
  const remember = useReturnToRow(card, rows !== undefined && !held.isOld)
  if (rows === undefined) {
    if (!query.isPending) return <LoadError what={what} error={query.error} onRetry={() => void query.refetch()} />
    return late ? <RowsSkeleton rows={8} /> : <div className="pm-card pm-table-waits" aria-busy="true" />
  }
  const keyOf = props.columns.find(({ header }) => header === sorting?.header)?.sortBy
  const shown = keyOf === undefined ? held.shown : sortRows(held.shown, keyOf, sorting?.isDescending === true)
  return (
    <div className="pm-card pm-list" ref={card} aria-busy={held.isOld}>
      {held.waiting > 0 && (pages?.cursor === undefined || order === 'oldest') ? (
        <button type="button" className="pm-waiting" onClick={held.release}>
          {newRows(what, held.waiting)}
        </button>
      ) : null}
      {query.error === null || query.error === undefined ? null : (
        <LoadError what={`newer ${what}`} error={query.error} onRetry={() => void query.refetch()} />
      )}
      <div className={held.isOld ? 'pm-old-rows' : undefined} inert={held.isOld}>
        {shown.length === 0 ? <Empty {...props} /> : <Rows {...props} rows={shown} onOpen={remember} />}
      </div>
      <Foot {...props} />
    </div>
  )
}

function Empty({ what, empty, clear = null }: Pick<DataTableProps<never>, 'what' | 'empty' | 'clear'>) {
  if (clear === null) return empty
  return (
    <EmptyState title={`No ${what} match.`}>
      <Button variant="default" onClick={clear}>
        Clear filters
      </Button>
    </EmptyState>
  )
}

const newRows = (what: string, count: number) => `${count} new ${count === 1 ? what.replace(/s$/, '') : what}`

/** Announces that rows wait above the list, once: not each further one, which the button shows. */
function useNewRowsAnnounced(what: string, waiting: number) {
  const before = useRef(0)
  useEffect(() => {
    if (before.current === 0 && waiting > 0) announce(newRows(what, waiting))
    before.current = waiting
  }, [what, waiting])
}

interface RowsProps<T> extends DataTableProps<T> {
  readonly rows: readonly T[]
  readonly onOpen: (rowId: string) => void
}

function Rows<T>({ what, columns, rows, idOf, to, selectedId, onOpen }: RowsProps<T>) {
  const navigate = useNavigate()
  const linkAt = Math.max(
    0,
    columns.findIndex(({ isLink }) => isLink),
  )
  const open = (event: React.MouseEvent, row: T) => {
    const inner = (event.target as HTMLElement).closest('a, button, input, label, summary')
    const marking = (window.getSelection()?.toString() ?? '') !== ''
    if (to === undefined || marking) return
    if (inner === null || inner.matches('[data-row-link]')) onOpen(idOf(row))
    if (inner === null) void navigate(to(row))
  }
  return (
    <CardTable
      label={what}
      columns={columns}
      rows={rows}
      keyOf={idOf}
      // The row's link is for keyboards; the click is a larger target.
      rowProps={(row) => ({
        'data-row-id': idOf(row),
        className: to === undefined ? undefined : 'pm-clickable',
        'aria-current': selectedId === idOf(row) ? 'true' : undefined,
        onClick: (event) => open(event, row),
      })}
      wrap={(content, row, column) =>
        column === linkAt && to !== undefined ? (
          <Link to={to(row)} data-row-link="">
            {content}
          </Link>
        ) : (
          content
        )
      }
    />
  )
}

function Foot<T>({ pages, nextCursor, foot, to, columns }: DataTableProps<T>) {
  const { order } = useSorting()
  const isOldestFirst = order === 'oldest'
  const isOrdered = columns.some((column) => column.isOrder)
  const paged = pages !== undefined && (pages.cursor !== undefined || typeof nextCursor === 'string')
  if (!paged && foot === undefined && !isOrdered) return null
  return (
    <div className="pm-table-foot">
      <span>
        {isOrdered ? (isOldestFirst ? 'Oldest first' : 'Newest first') : null}
        {isOrdered && foot !== undefined ? '. ' : null}
        {foot}
      </span>
      {to === undefined ? null : (
        <span className="pm-dim pm-wide">
          <kbd>J</kbd> <kbd>K</kbd> move · <kbd>Enter</kbd> open · <kbd>C</kbd> copy ID
        </span>
      )}
      {paged ? (
        <span className="pm-row">
          <Button
            size="xs"
            variant="default"
            leftSection={<IconChevronLeft size={14} aria-hidden />}
            disabled={pages.cursor === undefined}
            onClick={pages.newer}
          >
            {isOldestFirst ? 'Older' : 'Newer'}
          </Button>
          <Button
            size="xs"
            variant="default"
            rightSection={<IconChevronRight size={14} aria-hidden />}
            disabled={typeof nextCursor !== 'string'}
            onClick={() => typeof nextCursor === 'string' && pages.older(nextCursor)}
          >
            {isOldestFirst ? 'Newer' : 'Older'}
          </Button>
        </span>
      ) : null}
    </div>
  )
}
