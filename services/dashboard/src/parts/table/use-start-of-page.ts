import { type RefObject, useEffect, useRef } from 'react'

/** Scrolls to the top of a list when it shows another page: otherwise page 2 would open at its bottom, at the button. */
export function useStartOfPage(list: RefObject<HTMLElement | null>, cursor: string | undefined): void {
  const shown = useRef(cursor)
  useEffect(() => {
    if (shown.current === cursor) return
    shown.current = cursor
    list.current?.scrollIntoView({ block: 'start' })
  }, [list, cursor])
}
