import { dropEarlyKeys, keepEarlyKeys } from './early-keys.ts'

const load = () => import('./search.tsx')
type Search = Awaited<ReturnType<typeof load>>['Search']

let loaded: Search | null = null
const listeners = new Set<() => void>()

/** Opens the search of everything. Its code is requested at the first call; the frame says when it could not be loaded. */
export function openSearch(): void {
  keepEarlyKeys()
  load().then(({ Search, showSearch }) => {
    loaded = Search
    for (const listener of listeners) listener()
    showSearch()
  }, dropEarlyKeys)
}

/** The component of the search; null until it was opened once. */
export const loadedSearch = (): Search | null => loaded

/** Calls the listener when the search was loaded; returns a function that unsubscribes. */
export function whenSearchLoads(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
