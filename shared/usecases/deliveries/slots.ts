/** A bounded number of places; the bound may move while places are taken. */
export interface Slots {
  /** Places free now; 0 when the bound fell below the number taken. */
  free(): number
  taken(): number
  take(count: number): void
  /** Gives places back and wakes waiting callers. */
  give(count: number): void
  /** Resolves when places are next given back, or when `wake` is called. */
  freed(): Promise<void>
  wake(): void
}

/** Places up to `limit()`, which is read each time. */
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
