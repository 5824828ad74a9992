import { useRef } from 'react'
import { useSearchParams } from 'react-router'
import { CURSOR_PARAM } from './url-filters.ts'

/** Pages of a long list by cursor: `cursor` is for the query, the rest for `DataTable`. */
export interface CursorPages {
  readonly cursor: string | undefined
  /** Goes to the rows after `next`, the cursor from the server. */
  readonly older: (next: string) => void
  /** Goes back one page; after a reload, to the first one. */
  readonly newer: () => void
}

/** Keeps the cursor of a list in the URL. */
export function useCursorPages(): CursorPages {
  const [params, setParams] = useSearchParams()
  const past = useRef<string[]>([])
  const cursor = params.get(CURSOR_PARAM) ?? undefined
  const go = (to: string | undefined) =>
    setParams((now) => {
      const next = new URLSearchParams(now)
      if (to === undefined) next.delete(CURSOR_PARAM)
      else next.set(CURSOR_PARAM, to)
      return next
    })
  return {
    cursor,
    older: (next) => {
      if (cursor !== undefined) past.current.push(cursor)
      go(next)
    },
    newer: () => go(past.current.pop()),
  }
}
