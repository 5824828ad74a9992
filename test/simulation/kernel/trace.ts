import { createHash } from 'node:crypto'

/** Lines kept for a report. */
const KEPT = 60
const CHUNK = 256

/** Everything that happened, as one hash, and the last of it as text. */
export interface Trace {
  add(line: string): void
  /** SHA-256 over all lines so far, hex. */
  hash(): string
  readonly lines: number
  /** The last lines, oldest first. */
  last(): readonly string[]
}

/** A trace; with `echo` every line is also given to it at once. */
export function createTrace(echo?: (line: string) => void): Trace {
  const hash = createHash('sha256')
  const kept: string[] = []
  let pending = ''
  let lines = 0
  return {
    add(line) {
      lines += 1
      kept[lines % KEPT] = line
      pending += `${line}\n`
      if (lines % CHUNK === 0) {
        hash.update(pending)
        pending = ''
      }
      echo?.(line)
    },
    hash() {
      hash.update(pending)
      pending = ''
      return hash.copy().digest('hex')
    },
    get lines() {
      return lines
    },
    last() {
      const oldest = (lines + 1) % KEPT
      return [...kept.slice(oldest), ...kept.slice(0, oldest)].filter((line) => line !== undefined)
    },
  }
}
