import { useCallback, useMemo, useRef } from 'react'
import { useSearchParams } from 'react-router'
import { changeParams, readFilters } from './url-filters.ts'

/**
 * Filters of a list, kept in the URL so that a link and the back button show the same rows. `defaults` names every filter (define it
 * outside the component); a filter with its default is left out of the URL. Changing one returns to the first page of rows.
 * Several changes before the next render are all applied.
 */
export function useUrlFilters<T extends Readonly<Record<string, string>>>(defaults: T) {
  const [params, setParams] = useSearchParams()
  const filters = useMemo(() => readFilters(params, defaults), [params, defaults])
  // The router passes every change the last rendered URL, and would drop all but the last change.
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
