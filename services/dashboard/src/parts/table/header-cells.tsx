import { IconArrowDown, IconArrowsSort, IconArrowUp } from '@tabler/icons-react'
import type { Column } from './column.ts'
import { useSorting } from './list-order.ts'

/** Class names of a cell. */
export function cellClass(align: 'right' | undefined, wide: boolean | undefined): string | undefined {
  const names = [align === 'right' ? 'pm-right' : '', wide === true ? 'pm-wide' : ''].filter((name) => name !== '')
  return names.length === 0 ? undefined : names.join(' ')
}

/** The headings of a table; those of sortable columns are buttons. */
export function HeaderCells<T>({ columns }: { readonly columns: readonly Column<T>[] }) {
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
