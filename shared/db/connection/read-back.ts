const GIVE_UP_MS = 5_000

/**
 * Reads the document that a duplicate key proved to exist. It may not be majority-committed yet, so an empty read
 * is repeated with growing pauses for up to 5 s; then null, which the caller treats as "still in progress".
 */
export async function readBack<T>(read: () => Promise<T | null>): Promise<T | null> {
  const until = performance.now() + GIVE_UP_MS
  for (let pauseMs = 2; ; pauseMs = Math.min(pauseMs * 2, 200)) {
    const found = await read()
    if (found !== null || performance.now() >= until) return found
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}
