import { useCallback, useMemo, useRef } from 'react'
import { useSearchParams } from 'react-router'
import { changeParams, readFilters } from './url-filters.ts'

/**
 * Filters of a list, kept in the URL so that a link and the back button show the same rows. `defaults` names every filter (hoist it
 * out of the component); a filter at its default is left out of the URL. Changing one goes back to the first page of rows.
 * Several changes before the page is drawn again all count.
 */
export function useUrlFilters<T extends Readonly<Record<string, string>>>(defaults: T) {
  const [params, setParams] = useSearchParams()
  const filters = useMemo(() => readFilters(params, defaults), [params, defaults])
  // The router hands every change the URL that was drawn last, and would forget all but the last one.
  const newest = useRef(params)
  newest.current = params
  const set = useCallback(
    (change: Partial<Record<keyof T & string, string>>) => {
      newest.current = changeParams(newest.current, defaults, change)
      setParams(newest.current, { replace: true })
    },
    [setParams, defaults],
  )
  const clear = useCallback(() => set(defaults), [set, defaults])
  const filtered = Object.entries(filters).some(([name, value]) => value !== defaults[name])
  return { filters, set, clear, filtered }
}
