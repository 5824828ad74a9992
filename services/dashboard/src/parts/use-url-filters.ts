import { useCallback, useMemo } from 'react'
import { useSearchParams } from 'react-router'
import { changeParams, readFilters } from './url-filters.ts'

/**
 * Filters of a list, kept in the URL so that a link and the back button show the same rows. `defaults` names every filter (hoist it
 * out of the component); a filter at its default is left out of the URL. Changing one goes back to the first page of rows.
 */
export function useUrlFilters<T extends Readonly<Record<string, string>>>(defaults: T) {
  const [params, setParams] = useSearchParams()
  const filters = useMemo(() => readFilters(params, defaults), [params, defaults])
  const set = useCallback(
    (change: Partial<Record<keyof T & string, string>>) =>
      setParams((now) => changeParams(now, defaults, change), { replace: true }),
    [setParams, defaults],
  )
  const clear = useCallback(
    () => setParams((now) => changeParams(now, defaults, defaults as never), { replace: true }),
    [setParams, defaults],
  )
  const filtered = Object.entries(filters).some(([name, value]) => value !== defaults[name])
  return { filters, set, clear, filtered }
}
