/**
 * Lets callers through one by one, at most `perSecond` of them each second, in their order; null lets
 * all through at once.
 */
export function createPacer(perSecond: number | null): () => Promise<void> {
  let freeAt = Number.NEGATIVE_INFINITY
  return async () => {
    if (perSecond === null) return
    const now = performance.now()
    const startAt = Math.max(now, freeAt)
    freeAt = startAt + 1_000 / perSecond
    if (startAt > now) await new Promise((resolve) => setTimeout(resolve, startAt - now))
  }
}
