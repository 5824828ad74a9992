/** Messages of one reader, in order. */
export interface Mailbox<T> {
  post(letter: T): void
  /** The oldest message; null when none came within `patienceMs` or the reader gave up. One reader at a time. */
  next(patienceMs: number, abort: AbortSignal): Promise<T | null>
}

/** Makes a mailbox of bounded size: message `max` + 1 replaces all others by one that reports the overflow. */
export function createMailbox<T>(max: number, tooMany: () => T): Mailbox<T> {
  let letters: T[] = []
  let wake: (() => void) | null = null
  return {
    post(letter) {
      letters.push(letter)
      if (letters.length > max) letters = [tooMany()]
      wake?.()
    },
    async next(patienceMs, abort) {
      if (letters.length === 0 && !abort.aborted) {
        await new Promise<void>((resolve) => {
          const done = () => {
            clearTimeout(timer)
            abort.removeEventListener('abort', done)
            wake = null
            resolve()
          }
          const timer = setTimeout(done, patienceMs)
          abort.addEventListener('abort', done)
          wake = done
        })
      }
      return abort.aborted ? null : (letters.shift() ?? null)
    },
  }
}
