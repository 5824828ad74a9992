/** Most ids in one read. */
const BATCH_MAX = 200

/**
 * Turns a read of many into a look-up of one: ids asked for in one turn of the event loop, or while a read runs, share
 * a read, so batching costs nobody more than one read. Null for ids that were not found.
 */
export function createBatchLookup<T extends { readonly id: string }>(
  findMany: (ids: readonly string[]) => Promise<readonly T[]>,
): (id: string) => Promise<T | null> {
  interface Waiter {
    readonly id: string
    readonly resolve: (found: T | null) => void
    readonly reject: (error: unknown) => void
  }
  const waiting: Waiter[] = []
  let running = false

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.splice(0, BATCH_MAX)
      try {
        const found = new Map<string, T>()
        for (const item of await findMany([...new Set(batch.map(({ id }) => id))])) found.set(item.id, item)
        for (const { id, resolve } of batch) resolve(found.get(id) ?? null)
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    running = false
  }

  return (id) =>
    new Promise((resolve, reject) => {
      waiting.push({ id, resolve, reject })
      if (running) return
      running = true
      setImmediate(drain)
    })
}
