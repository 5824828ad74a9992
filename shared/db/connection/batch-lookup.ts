/** Most keys in one read. */
const BATCH_MAX = 200

/** How many are read at once, and how results are matched to keys: equal texts belong together. */
export interface BatchRead<K, T> {
  readonly findMany: (keys: readonly K[]) => Promise<readonly T[]>
  readonly nameOfKey: (key: K) => string
  readonly nameOfItem: (item: T) => string
}

/**
 * Turns a read of many into a look-up of one: keys requested in one turn of the event loop, or while a read runs, share
 * the next read. The read always starts after the request, so no result is older than with a separate read, and
 * batching adds at most one read of latency. Null for keys that were not found.
 */
export function createBatchLookup<K, T>(read: BatchRead<K, T>): (key: K) => Promise<T | null> {
  interface Waiter {
    readonly key: K
    readonly resolve: (found: T | null) => void
    readonly reject: (error: unknown) => void
  }
  const waiting: Waiter[] = []
  let running = false

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.splice(0, BATCH_MAX)
      try {
        const keys = new Map(batch.map(({ key }) => [read.nameOfKey(key), key]))
        const items = await read.findMany([...keys.values()])
        const found = new Map(items.map((item) => [read.nameOfItem(item), item]))
        for (const { key, resolve } of batch) resolve(found.get(read.nameOfKey(key)) ?? null)
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    running = false
  }

  return (key) =>
    new Promise((resolve, reject) => {
      waiting.push({ key, resolve, reject })
      if (running) return
      running = true
      setImmediate(drain)
    })
}
