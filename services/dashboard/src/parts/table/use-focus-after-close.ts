import { type RefObject, useEffect, useRef } from 'react'

/**
 * Returns the focus to the row of the item that was open beside a list, once it is closed: people who use keys go on from there. Leaves the
 * focus where it is when it has gone elsewhere meanwhile. `openId`: the row that is open now. Call it below `Page`, whose heading takes a
 * focus that nothing else took.
 */
export function useFocusAfterClose(list: RefObject<HTMLElement | null>, openId: string | undefined): void {
  const before = useRef<string>('')
  useEffect(() => {
    const closed = before.current
    before.current = openId ?? ''
    if (closed === '' || before.current !== '' || document.activeElement !== document.body) return
    const row = list.current?.querySelector<HTMLElement>(`[data-row-id="${CSS.escape(closed)}"]`)
    const target = row?.matches('[data-row-link]') === true ? row : row?.querySelector<HTMLElement>('[data-row-link]')
    target?.focus()
  }, [list, openId])
}
