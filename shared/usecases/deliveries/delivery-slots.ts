/** A bounded number of places; the bound may move while places are taken. */
export interface Slots {
  /** Places that may be taken now; 0 when the bound fell below what is taken. */
  free(): number
  taken(): number
  take(count: number): void
  /** Gives places back and wakes who waits. */
  give(count: number): void
  /** Resolves when places are given back next, or when `wake` is called. */
  freed(): Promise<void>
  wake(): void
}

/** Places up to `limit()`, which is asked each time. */
export function createSlots(limit: () => number): Slots {
  let taken = 0
  let waiting: { promise: Promise<void>; resolve: () => void } | null = null
  const wake = (): void => {
    waiting?.resolve()
    waiting = null
  }
  return {
    free: () => Math.max(0, limit() - taken),
    taken: () => taken,
    take: (count) => {
      taken += count
    },
    give: (count) => {
      taken -= count
      wake()
    },
    freed: () => {
      if (waiting === null) {
        let resolve = (): void => undefined
        const promise = new Promise<void>((done) => {
          resolve = done
        })
        waiting = { promise, resolve }
      }
      return waiting.promise
    },
    wake,
  }
}
