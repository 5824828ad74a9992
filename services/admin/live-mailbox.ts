/** Letters of one reader, in order. */
export interface Mailbox<T> {
  post(letter: T): void
  /** The oldest letter; null when none came within `patienceMs` or the reader gave up. One reader at a time. */
  next(patienceMs: number, abort: AbortSignal): Promise<T | null>
}

/** Makes a mailbox of bounded size: what would be letter `max` + 1 is replaced, with all others, by one that says so. */
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
