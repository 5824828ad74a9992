import type { ComponentProps, ReactNode } from 'react'
import { ScrollBox } from '../scroll-box.tsx'
import { useNarrow } from '../use-narrow.ts'
import type { Column } from './column.ts'
import { cellClass, HeaderCells } from './header-cells.tsx'

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
