/**
 * Results of several generators as they come, `width` of them at a time, each at most one result ahead. `next` gives the generator to
 * start; null means that none may start now, and ends the whole once those that run have ended. The first error ends all.
 */
export async function* interleave<T>(next: () => AsyncGenerator<T> | null, width: number): AsyncGenerator<T> {
  const active = new Map<AsyncGenerator<T>, Promise<Step<T>>>()
  const advance = (source: AsyncGenerator<T>): void => {
    const step = source.next().then((result) => ({ source, result }))
    // A failure is thrown by the race below, or the whole has ended already.
    step.catch(() => undefined)
    active.set(source, step)
  }
  try {
    for (;;) {
      while (active.size < width) {
        const source = next()
        if (source === null) break
        advance(source)
      }
      if (active.size === 0) return
      const { source, result } = await Promise.race(active.values())
      if (result.done === true) active.delete(source)
      else {
        advance(source)
        yield result.value
      }
    }
  } finally {
    await Promise.allSettled([...active.keys()].map((source) => source.return(undefined)))
  }
}

interface Step<T> {
  readonly source: AsyncGenerator<T>
  readonly result: IteratorResult<T, unknown>
}
