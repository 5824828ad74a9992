type Filters = Readonly<Record<string, string>>

/** The start position of a list, in the URL next to its filters. */
export const CURSOR_PARAM = 'after'

/** The filters of a URL; missing ones have their default. */
export function readFilters<T extends Filters>(
  params: URLSearchParams,
  defaults: T,
): { readonly [K in keyof T]: string } {
  const entries = Object.entries(defaults).map(([name, value]) => [name, params.get(name) ?? value])
  return Object.fromEntries(entries) as { [K in keyof T]: string }
}

/** The URL after a change of filters: defaults are left out, and the list starts at its first page again. Others stay. */
export function changeParams(
  now: URLSearchParams,
  defaults: Filters,
  change: Readonly<Partial<Record<string, string>>>,
): URLSearchParams {
  const next = new URLSearchParams(now)
  next.delete(CURSOR_PARAM)
  for (const [name, value] of Object.entries(change)) {
    if (value === undefined || value === defaults[name]) next.delete(name)
    else next.set(name, value)
  }
  return next
}
