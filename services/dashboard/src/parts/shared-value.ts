import { useSyncExternalStore } from 'react'

/** A value that lives outside of the components: `use` reads it, and renders again when it changes. */
export function createSharedValue<T>(initial: T) {
  let value = initial
  const listeners = new Set<() => void>()
  const subscribe = (listener: () => void) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }
  const get = (): T => value
  return {
    get,
    set: (next: T): void => {
      value = next
      for (const listener of listeners) listener()
    },
    use: (): T => useSyncExternalStore(subscribe, get),
  }
}
