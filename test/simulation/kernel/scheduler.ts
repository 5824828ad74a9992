import { createEventHeap, type Entry, type EntryKind } from './event-heap.ts'
import type { SimProcess } from './sim-process.ts'
import type { Trace } from './trace.ts'

/** Over so long the pauses of idle processes are spread after a jump, so that they keep out of step. */
const SPREAD_MS = 900

/** Virtual time and everything that will happen in it. One event runs at a time, and all its microtasks with it. */
export interface Scheduler {
  /** True time, Unix milliseconds. */
  readonly now: number
  /** The process in which the running event happens; null for the outside. */
  current: SimProcess | null
  /** Runs something later; it is forgotten when its process dies, and waits while that is frozen. Returns what cancels it. */
  at(delayMs: number, kind: EntryKind, process: SimProcess | null, what: string, run: () => void): () => void
  /** Runs code of a process now, in the middle of an outside event, or when the process goes on. */
  enter(process: SimProcess, run: () => void): void
  freeze(process: SimProcess): void
  thaw(process: SimProcess): void
  kill(process: SimProcess): void
  /** Runs one event and its microtasks; false when nothing is left. */
  step(): Promise<boolean>
  /** Earliest moment at which something of this kind happens. */
  next(kind: EntryKind): number
  /**
   * Lets all pauses before `time` last until then: what polls would have found nothing anyway. Processes that `sleeps`
   * names do not even wake then, but with `wake` or the next skip.
   */
  skipTo(time: number, sleeps: (process: SimProcess) => boolean): void
  /** Ends the pauses of those that slept on and that `wakes` names. */
  wake(wakes: (process: SimProcess) => boolean): void
  readonly steps: number
}

/** A scheduler at `startAt`. `drain` resolves when all microtasks that exist have run. */
export function createScheduler(options: {
  readonly startAt: number
  readonly trace: Trace
  readonly drain: () => Promise<void>
}): Scheduler {
  const heap = createEventHeap()
  const { trace } = options
  let now = options.startAt
  let order = 0
  let steps = 0
  let quietUntil = 0

  const scheduler: Scheduler = {
    get now() {
      return now
    },
    get steps() {
      return steps
    },
    current: null,
    at(delayMs, kind, process, what, run) {
      let time = now + Math.max(0, delayMs)
      if (kind === 'timer' && time < quietUntil) time = quietUntil + Math.min(Math.max(0, delayMs), SPREAD_MS)
      const entry: Entry = { time, order: order++, kind, process, what, run, cancelled: false }
      heap.push(entry)
      return () => {
        entry.cancelled = true
      }
    },
    enter(process, run) {
      if (!process.alive) return
      if (process.frozen) {
        process.waiting.push(run)
        return
      }
      scheduler.current = process
      run()
    },
    freeze(process) {
      process.frozen = true
    },
    thaw(process) {
      process.frozen = false
      for (const run of process.waiting.splice(0)) scheduler.at(0, 'work', process, 'thaw', run)
    },
    kill(process) {
      process.alive = false
      process.waiting.length = 0
    },
    async step() {
      for (;;) {
        const entry = heap.pop()
        if (entry === undefined) return false
        const { process } = entry
        if (entry.cancelled || process?.alive === false) continue
        now = Math.max(now, entry.time)
        if (process?.frozen) {
          process.waiting.push(entry.run)
          continue
        }
        steps += 1
        trace.add(`${now} ${process?.name ?? '-'} ${entry.what}`)
        scheduler.current = process
        entry.run()
        await options.drain()
        scheduler.current = null
        return true
      }
    },
    next: (kind) => heap.next(kind),
    skipTo(time, sleeps) {
      quietUntil = time
      heap.wake(now, 0, () => true)
      heap.putOff(time, SPREAD_MS, ({ process }) => process !== null && sleeps(process))
    },
    wake: (wakes) => heap.wake(now, SPREAD_MS, ({ process }) => process === null || wakes(process)),
  }
  return scheduler
}
