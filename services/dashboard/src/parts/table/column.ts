import type { ReactNode } from 'react'
import type { SortKey } from './list-order.ts'

/** A column of a list. */
export interface Column<T> {
  readonly header: string
  /** In place of the header's text, for example a checkbox. */
  readonly head?: ReactNode
  /** This column has the row's link; without one it is the first. */
  readonly isLink?: true
  readonly cell: (row: T) => ReactNode
  /** Its values say what they are: a badge, a name, an email address, a button. The cards of a phone leave the column's name out only here. */
  readonly namesItself?: true
  /** Its values name the rows for screen readers. */
  readonly isRowHeader?: true
  readonly align?: 'right'
  /** The heading changes the order in which the server reads the list: `useListOrder` in its query. */
  readonly isOrder?: true
  /** The heading sorts by this, here: only in lists that are loaded whole. */
  readonly sortBy?: (row: T) => SortKey
  /** Left out below 768 px, where each row is a card: keep number, status, amount and time. */
  readonly wide?: boolean
}
