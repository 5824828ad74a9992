/** Concurrent rounds, of different shards. */
const ROUNDS_MAX = 2

interface Asked {
  readonly shard: number
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/**
 * Runs `next`, which returns true when there may be more, for the requested shards. A round takes all requested shards: many cost the
 * store little more than one. While it runs, a second round serves the other shards, so that a lone change rarely waits; a request for
 * a shard of a running round joins a later one, which reads after the request. Requests that wait for the same round share one promise, so that
 * a long round keeps no more of them than there are shards.
 */
export function createShardRounds(
  next: (shards: readonly number[]) => Promise<boolean>,
): (shard: number) => Promise<void> {
  let asked: Asked[] = []
  /** The requests that later ones of their shard may join, because their round has not begun. */
  const waiting = new Map<number, Promise<void>>()
  let rounds = 0
  const busy = new Set<number>()
  let isStarting = false

  const round = async (served: readonly Asked[]): Promise<void> => {
    const shards = [...new Set(served.map(({ shard }) => shard))]
    for (const shard of shards) busy.add(shard)
    rounds += 1
    try {
      // The rest of a backlog is queued again, so that other shards get their turn.
      if (await next(shards)) asked = [...asked, ...served]
      else for (const { resolve } of served) resolve()
    } catch (error) {
      for (const { reject } of served) reject(error)
    }
    rounds -= 1
    for (const shard of shards) busy.delete(shard)
    start()
  }
  const start = (): void => {
    const served = asked.filter(({ shard }) => !busy.has(shard))
    if (served.length === 0 || rounds === ROUNDS_MAX) return
    asked = asked.filter(({ shard }) => busy.has(shard))
    for (const { shard } of served) waiting.delete(shard)
    void round(served)
  }
  return (shard) => {
    const shared = waiting.get(shard)
    if (shared !== undefined) return shared
    const promise = new Promise<void>((resolve, reject) => asked.push({ shard, resolve, reject }))
    waiting.set(shard, promise)
    // Shards that are requested in one turn share a round.
    if (!isStarting) {
      isStarting = true
      queueMicrotask(() => {
        isStarting = false
        start()
      })
    }
    return promise
  }
}
