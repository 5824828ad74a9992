import { type RefObject, useCallback, useEffect } from 'react'
import { useLocation } from 'react-router'

const PREFIX = 'pm-opened-row:'

/**
 * Returns a person who goes back to a list to the row that they opened: it is focused and in view. Returns a function that records the
 * opened row; the browser's history entry stores it, so that two visits of one list are separate. `isShown`: the rows are rendered.
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
