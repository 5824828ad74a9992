/**
 * Runs `work`, which never throws, after `firstMs` and then again `everyMs` after each end. Returns a function that ends it, once the run
 * that is under way has ended. Keeps no process alive.
 */
export function repeat(work: () => Promise<void>, everyMs: number, firstMs = everyMs): () => Promise<void> {
  let running = Promise.resolve()
  let stopped = false
  let timer: NodeJS.Timeout
  const wait = (ms: number): void => {
    timer = setTimeout(() => {
      running = work().then(() => {
        if (!stopped) wait(everyMs)
      })
    }, ms)
    timer.unref()
  }
  wait(firstMs)
  return async () => {
    stopped = true
    clearTimeout(timer)
    await running
  }
}
