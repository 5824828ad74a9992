import { IconArrowDown, IconArrowsSort, IconArrowUp } from '@tabler/icons-react'
import type { ComponentProps, ReactNode } from 'react'
import { ScrollBox } from '#services/dashboard/src/parts/scroll-box.tsx'
import { useNarrow } from '#services/dashboard/src/parts/use-narrow.ts'
import type { Column } from './column.ts'
import { useSorting } from './list-order.ts'

/**
 * A table whose rows are cards on a phone, where the headings are out of sight: there each value has the name of its column above it,
 * except in columns whose values name themselves. `wrap` puts something around the content of a cell, such as the row's link.
 */
export function CardTable<T>(props: {
  readonly label: string
  readonly columns: readonly Column<T>[]
  readonly rows: readonly T[]
  readonly keyOf: (row: T) => string
  readonly rowProps?: (row: T) => ComponentProps<'tr'> & { readonly 'data-row-id'?: string }
  readonly wrap?: (content: ReactNode, row: T, column: number) => ReactNode
}) {
  const { label, columns, rows, keyOf, rowProps, wrap } = props
  const isCard = useNarrow()
  return (
    <ScrollBox label={label}>
      <table className="pm-table pm-num" aria-label={label}>
        <thead>
          <HeaderCells columns={columns} />
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)} {...rowProps?.(row)}>
              {columns.map(({ header, cell, align, wide, namesItself, isRowHeader }, index) => {
                const Cell = isRowHeader === true ? 'th' : 'td'
                const scope = isRowHeader === true ? { scope: 'row' } : {}
                return (
                  <Cell key={header} className={cellClass(align, wide)} data-label={header} {...scope}>
                    {isCard && namesItself !== true ? <span className="pm-cell-name">{header}</span> : null}
                    {wrap === undefined ? cell(row) : wrap(cell(row), row, index)}
                  </Cell>
                )
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollBox>
  )
}

/** Class names of a cell. */
function cellClass(align: 'right' | undefined, wide: boolean | undefined): string | undefined {
  const names = [align === 'right' ? 'pm-right' : '', wide === true ? 'pm-wide' : ''].filter((name) => name !== '')
  return names.length === 0 ? undefined : names.join(' ')
}

/** The headings of a table; those of sortable columns are buttons. */
function HeaderCells<T>({ columns }: { readonly columns: readonly Column<T>[] }) {
  return (
    <tr>
      {columns.map((column) => {
        const { header, head, align, wide, isOrder, sortBy } = column
        if (isOrder === true || sortBy !== undefined) return <SortableHeader key={header} column={column} />
        return (
          <th key={header} scope="col" className={cellClass(align, wide)}>
            {head ?? header}
          </th>
        )
      })}
    </tr>
  )
}

const ICONS = { ascending: IconArrowUp, descending: IconArrowDown, none: IconArrowsSort } as const

function SortableHeader<T>({ column: { header, align, wide, isOrder } }: { readonly column: Column<T> }) {
  const { order, sorting, set } = useSorting()
  const isSorted = isOrder === true || sorting?.header === header
  const isDescending = isOrder === true ? order === 'newest' : sorting?.isDescending === true
  const state = isSorted ? (isDescending ? 'descending' : 'ascending') : 'none'
  const Icon = ICONS[state]
  const change = () => {
    if (isOrder === true) {
      const isOldest = order === 'newest'
      return set(isOldest ? 'oldest' : '', `Sorted by ${header}, ${isOldest ? 'oldest' : 'newest'} first`)
    }
    const next = state === 'ascending' ? `-${header}` : header
    set(next, `Sorted by ${header}, ${state === 'ascending' ? 'descending' : 'ascending'}`)
  }
  return (
    <th scope="col" className={cellClass(align, wide)} aria-sort={state}>
      <button type="button" className="pm-sort" onClick={change}>
        {header}
        <Icon size={13} aria-hidden />
      </button>
    </th>
  )
}
