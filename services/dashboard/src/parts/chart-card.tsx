import { IconChevronDown } from '@tabler/icons-react'
import { type ReactNode, useId, useState } from 'react'
import { Card } from './card.tsx'
import { ScrollBox } from './scroll-box.tsx'

/** The same numbers as a table: the first cell of each row names it. */
export interface ChartTable {
  readonly head: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

/** A chart with its result in words, and its numbers as a table on demand. The drawing itself is hidden from screen readers. */
export function ChartCard(props: {
  readonly title: string
  readonly beside?: ReactNode
  /** The result in a sentence: "Paid volume rose from 5,000 to 7,600 USD." */
  readonly finding: string
  readonly table: ChartTable
  readonly className?: string
  readonly children: ReactNode
}) {
  const [open, setOpen] = useState(false)
  const id = useId()
  return (
    <Card title={props.title} beside={props.beside} className={props.className ?? ''} flush>
      <div className="pm-chart" role="img" aria-label={props.finding}>
        <div aria-hidden>{props.children}</div>
      </div>
      <button
        type="button"
        className="pm-chart-toggle"
        aria-expanded={open}
        aria-controls={id}
        onClick={() => setOpen(!open)}
      >
        {open ? 'Hide table' : 'Show as table'} <IconChevronDown size={14} aria-hidden />
      </button>
      <div id={id} hidden={!open}>
        <ScrollBox label={props.title}>
          <table className="pm-table pm-table-plain pm-num" aria-label={props.title}>
            <thead>
              <tr>
                {props.table.head.map((word, index) => (
                  <th key={word} scope="col" className={index === 0 ? undefined : 'pm-right'}>
                    {word}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {props.table.rows.map(([name, ...cells]) => (
                <tr key={name}>
                  <th scope="row">{name}</th>
                  {cells.map((cell, index) => (
                    <td key={props.table.head[index + 1]} className="pm-right">
                      {cell}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollBox>
      </div>
    </Card>
  )
}
