/** Runs `load` for a key unless a run for it is in progress; concurrent callers share its result. Nothing is cached afterwards. */
export type SingleFlight<T> = (key: string, load: () => Promise<T>) => Promise<T>

/** Makes a single flight: concurrent calls cost one read, and the next call reads again. */
export function createSingleFlight<T>(): SingleFlight<T> {
  const running = new Map<string, Promise<T>>()
  return (key, load) => {
    const known = running.get(key)
    if (known !== undefined) return known
    const started = load().finally(() => running.delete(key))
    running.set(key, started)
    return started
  }
}
