import { useSyncExternalStore } from 'react'

const phone = () => window.matchMedia('(max-width: 48em)')

function subscribe(listener: () => void): () => void {
  const query = phone()
  query.addEventListener('change', listener)
  return () => query.removeEventListener('change', listener)
}

/** Whether the window is as narrow as a phone: tables are cards, and filters open in a sheet. */
export const useNarrow = (): boolean => useSyncExternalStore(subscribe, () => phone().matches)
