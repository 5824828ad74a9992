import { useRef, useState } from 'react'
import { type HeldRows, holdRows } from './held-rows.ts'

/** Rows that never move by themselves. `listKey` names the list: another one is shown at once. `release` shows what waits. */
export function useHeldRows<T>(
  fetched: readonly T[],
  idOf: (row: T) => string,
  listKey: string,
): HeldRows<T> & { readonly release: () => void } {
  const [released, setReleased] = useState(0)
  const seen = useRef<{ readonly key: string; readonly shown: readonly T[] }>({ key: '', shown: [] })
  const key = `${listKey} ${released}`
  const before = seen.current.key === key ? seen.current.shown : []
  const held = holdRows(before, fetched, idOf)
  seen.current = { key, shown: held.shown }
  return { ...held, release: () => setReleased((times) => times + 1) }
}
