import { write, writeSync } from 'node:fs'
import type { DestinationStream } from 'pino'

/** Characters that wait while the output takes none, at most; the lines after them are dropped. */
const WAITING_MAX = 1_048_576
const RETRY_MS = 100
/** A thread makes the write under way, and an exiting process cannot see its end: it waits this long, so that no later line comes before it. */
const LAST_WRITE_MS = 50

/**
 * Writes lines to an open file without waiting for it. An output that fails, as a file on a full disk does, neither ends nor holds up the process: about a
 * million characters wait until it takes them, and later lines are dropped. (pino's own ends the process at the first failure, and its last write then
 * repeats for ever: sonic-boom 4.2.1, `flushSync`.) What waits when the process exits is tried once.
 */
export function createLogOutput(fd: number): DestinationStream {
  let waiting = ''
  let part = Buffer.alloc(0)
  let isWriting = false
  const step = (): void => {
    if (isWriting) return
    if (part.length === 0) {
      part = Buffer.from(waiting)
      waiting = ''
    }
    if (part.length === 0) return
    isWriting = true
    write(fd, part, (error, written) => {
      isWriting = false
      if (error === null) {
        part = part.subarray(written)
        step()
      } else setTimeout(step, RETRY_MS).unref()
    })
  }
  process.on('exit', () => {
    if (isWriting) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LAST_WRITE_MS)
    try {
      writeSync(fd, isWriting ? waiting : part.toString() + waiting)
    } catch {
      // There is nowhere left to say it.
    }
  })
  return {
    write: (line) => {
      if (waiting.length < WAITING_MAX) waiting += line
      step()
    },
  }
}
