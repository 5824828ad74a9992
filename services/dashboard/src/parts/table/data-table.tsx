import { Button } from '@mantine/core'
import { IconChevronLeft, IconChevronRight } from '@tabler/icons-react'
import { type ReactNode, useRef } from 'react'
import { Link, useNavigate } from 'react-router'
import { LoadError } from '../load-error.tsx'
import { RowsSkeleton } from '../page-skeleton.tsx'
import { ScrollBox } from '../scroll-box.tsx'
import { useLate } from '../use-late.ts'
import type { CursorPages } from './use-cursor-pages.ts'
import { type RowsQuery, useFrozenRows } from './use-frozen-rows.ts'
import { useReturnToRow } from './use-return-to-row.ts'
import { useStartOfPage } from './use-start-of-page.ts'

export interface Column<T> {
  readonly header: string
  /** In place of the header's text, for example a checkbox. */
  readonly head?: ReactNode
  /** This column has the row's link; without one it is the first. */
  readonly isLink?: true
  readonly cell: (row: T) => ReactNode
  readonly align?: 'right'
  /** Left out below 768 px, where each row is a card: keep number, status, amount and time. */
  readonly wide?: boolean
}

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
  const held = useFrozenRows(query, rows ?? [], props.idOf, props.detailParam)
  const card = useRef<HTMLDivElement>(null)
  useStartOfPage(card, pages?.cursor)
  const remember = useReturnToRow(card, rows !== undefined && !held.isOld)
  if (rows === undefined) {
    if (!query.isPending) return <LoadError what={what} error={query.error} onRetry={() => void query.refetch()} />
    return late ? <RowsSkeleton rows={8} /> : <div className="pm-card pm-table-waits" aria-busy="true" />
  }
  return (
    <div className="pm-card pm-list" ref={card} aria-busy={held.isOld}>
      {held.waiting > 0 && pages?.cursor === undefined ? (
        <button type="button" className="pm-waiting" onClick={held.release}>
          {held.waiting} new {held.waiting === 1 ? what.replace(/s$/, '') : what}
        </button>
      ) : null}
      {query.error === null || query.error === undefined ? null : (
        <LoadError what={`newer ${what}`} error={query.error} onRetry={() => void query.refetch()} />
      )}
      <div className={held.isOld ? 'pm-old-rows' : undefined} inert={held.isOld}>
        {held.shown.length === 0 ? props.empty : <Rows {...props} rows={held.shown} onOpen={remember} />}
      </div>
      <Foot {...props} />
    </div>
  )
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
    <ScrollBox label={what}>
      <table className="pm-table pm-num" aria-label={what}>
        <thead>
          <tr>
            {columns.map(({ header, head, align, wide }) => (
              <th key={header} scope="col" className={cellClass(align, wide)}>
                {head ?? header}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => {
            const id = idOf(row)
            return (
              // The row's link is for keyboards; the click is a larger target.
              <tr
                key={id}
                data-row-id={id}
                className={to === undefined ? undefined : 'pm-clickable'}
                aria-current={selectedId === id ? 'true' : undefined}
                onClick={(event) => open(event, row)}
              >
                {columns.map(({ header, cell, align, wide }, index) => (
                  <td key={header} className={cellClass(align, wide)} data-label={header}>
                    {index === linkAt && to !== undefined ? (
                      <Link to={to(row)} data-row-link="">
                        {cell(row)}
                      </Link>
                    ) : (
                      cell(row)
                    )}
                  </td>
                ))}
              </tr>
            )
          })}
        </tbody>
      </table>
    </ScrollBox>
  )
}

function cellClass(align: 'right' | undefined, wide: boolean | undefined): string | undefined {
  const names = [align === 'right' ? 'pm-right' : '', wide === true ? 'pm-wide' : ''].filter((name) => name !== '')
  return names.length === 0 ? undefined : names.join(' ')
}

function Foot<T>({ pages, nextCursor, foot, to }: DataTableProps<T>) {
  const paged = pages !== undefined && (pages.cursor !== undefined || typeof nextCursor === 'string')
  if (!paged && foot === undefined) return null
  return (
    <div className="pm-table-foot">
      <span>{foot}</span>
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
            Newer
          </Button>
          <Button
            size="xs"
            variant="default"
            rightSection={<IconChevronRight size={14} aria-hidden />}
            disabled={typeof nextCursor !== 'string'}
            onClick={() => typeof nextCursor === 'string' && pages.older(nextCursor)}
          >
            Older
          </Button>
        </span>
      ) : null}
    </div>
  )
}
