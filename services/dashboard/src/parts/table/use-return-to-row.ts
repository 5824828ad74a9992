import { type RefObject, useCallback, useEffect } from 'react'
import { useLocation } from 'react-router'

const PREFIX = 'pm-opened-row:'

/**
 * Brings somebody who goes back to a list to the row that they opened: it has the focus and is in view. Returns what records the
 * opened row; the entry of the browser's history names it, so that two visits of one list are two. `isShown`: the rows are there.
 */
export function useReturnToRow(list: RefObject<HTMLElement | null>, isShown: boolean): (rowId: string) => void {
  const { key } = useLocation()
  useEffect(() => {
    if (!isShown) return
    const rowId = takeOpenedRow(key)
    if (rowId === null) return
    const row = list.current?.querySelector<HTMLElement>(`[data-row-id="${CSS.escape(rowId)}"]`)
    row?.querySelector<HTMLElement>('[data-row-link]')?.focus({ preventScroll: true })
    row?.scrollIntoView({ block: 'center' })
  }, [list, key, isShown])
  return useCallback((rowId: string) => sessionStorage.setItem(`${PREFIX}${key}`, rowId), [key])
}

function takeOpenedRow(key: string): string | null {
  const rowId = sessionStorage.getItem(`${PREFIX}${key}`)
  sessionStorage.removeItem(`${PREFIX}${key}`)
  return rowId
}
