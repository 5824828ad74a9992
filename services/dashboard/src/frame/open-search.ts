import { createSharedValue } from '../parts/shared-value.ts'
import { dropEarlyKeys, keepEarlyKeys } from './early-keys.ts'

const load = () => import('./search.tsx')
type Search = Awaited<ReturnType<typeof load>>['Search']

/** The component of the search; null until it was opened once. It is kept in an object: a function would be called. */
export const searchCode = createSharedValue<{ readonly Search: Search } | null>(null)

/** Opens the search of everything. Its code is requested at the first call; the frame says when it could not be loaded. */
export function openSearch(): void {
  keepEarlyKeys()
  load().then(({ Search, showSearch }) => {
    searchCode.set({ Search })
    showSearch()
  }, dropEarlyKeys)
}
