import { useSearchParams } from 'react-router'
import { announce } from '../../frame/announcer.tsx'
import { CURSOR_PARAM } from './url-filters.ts'

/** The order of a list that the server reads by time. */
export type ListOrder = 'newest' | 'oldest'

/** The order of a list in the URL: `oldest`, or the header of a column, after a minus for descending. */
const SORT_PARAM = 'sort'

/** By what the rows of a list are sorted; null = as the server returns them. */
export interface Sorting {
  readonly header: string
  readonly isDescending: boolean
}

/** What the rows are compared by. Empty values come last in both directions. */
export type SortKey = string | number | null

/** The order for the query of a list that the server reads by time. */
export function useListOrder(): ListOrder {
  const [params] = useSearchParams()
  return params.get(SORT_PARAM) === 'oldest' ? 'oldest' : 'newest'
}

/** Reads and changes the order in the URL. A changed order starts at the first page, and is announced. */
export function useSorting() {
  const [params, setParams] = useSearchParams()
  const text = params.get(SORT_PARAM) ?? ''
  const set = (value: string, words: string) => {
    announce(words)
    setParams(
      (now) => {
        const next = new URLSearchParams(now)
        next.delete(CURSOR_PARAM)
        if (value === '') next.delete(SORT_PARAM)
        else next.set(SORT_PARAM, value)
        return next
      },
      { replace: true },
    )
  }
  return { order: text === 'oldest' ? 'oldest' : 'newest', sorting: readSorting(text), set } as const
}

/** The sorting in a URL's text; null for none. */
export function readSorting(text: string): Sorting | null {
  const header = text.replace(/^-/, '')
  return header === '' ? null : { header, isDescending: text.startsWith('-') }
}

/** The rows by their keys; rows with equal keys stay in their order. */
export function sortRows<T>(rows: readonly T[], keyOf: (row: T) => SortKey, isDescending: boolean): readonly T[] {
  const compare = (left: SortKey, right: SortKey) => {
    if (left === null || right === null) return Number(left === null) - Number(right === null)
    const order = typeof left === 'number' && typeof right === 'number' ? left - right : byText(left, right)
    return isDescending ? -order : order
  }
  return rows.toSorted((left, right) => compare(keyOf(left), keyOf(right)))
}

const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'accent' })
const byText = (left: string | number, right: string | number) => collator.compare(String(left), String(right))
