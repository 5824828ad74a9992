import type { SimProcess } from './sim-process.ts'

/**
 * `timer`: a pause that a process set itself; `work`: an answer on its way to one; `world`: what the outside does. Only
 * timers may be put off while nothing happens.
 */
export type EntryKind = 'timer' | 'work' | 'world'

/** Something that will happen. */
export interface Entry {
  time: number
  readonly order: number
  readonly kind: EntryKind
  readonly process: SimProcess | null
  readonly what: string
  run: () => void
  cancelled: boolean
}

/** A binary heap by time, then by the order in which entries were made. */
export interface EventHeap {
  push(entry: Entry): void
  pop(): Entry | undefined
  peek(): Entry | undefined
  /** Earliest time of an entry of this kind; infinite without one. */
  next(kind: EntryKind): number
  /**
   * Puts off all timers before `until`, in their order, to the moments after it. Those that `sleeps` names are taken out
   * until `wake` puts them in again.
   */
  putOff(until: number, spreadMs: number, sleeps: (entry: Entry) => boolean): void
  /** Puts sleeping timers in again, those that `wakes` names, at the moments after `from` in their order. */
  wake(from: number, spreadMs: number, wakes: (entry: Entry) => boolean): void
  readonly size: number
}

/** An empty heap. */
export function createEventHeap(): EventHeap {
  let heap: Entry[] = []
  let asleep: Entry[] = []
  const before = (a: Entry, b: Entry) => a.time < b.time || (a.time === b.time && a.order < b.order)

  const up = (from: number): void => {
    let at = from
    const entry = heap[at] as Entry
    while (at > 0) {
      const parent = (at - 1) >> 1
      const other = heap[parent] as Entry
      if (!before(entry, other)) break
      heap[at] = other
      at = parent
    }
    heap[at] = entry
  }
  const down = (from: number): void => {
    let at = from
    const entry = heap[at] as Entry
    for (;;) {
      let child = 2 * at + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && before(heap[child + 1] as Entry, heap[child] as Entry)) child += 1
      if (!before(heap[child] as Entry, entry)) break
      heap[at] = heap[child] as Entry
      at = child
    }
    heap[at] = entry
  }

  const isAlive = (entry: Entry): boolean => !entry.cancelled && entry.process?.alive !== false
  const spread = (entries: Entry[], from: number, spreadMs: number): void => {
    entries.sort((a, b) => (before(a, b) ? -1 : 1))
    for (const [index, entry] of entries.entries()) entry.time = from + (spreadMs * index) / entries.length
  }

  return {
    push(entry) {
      heap.push(entry)
      up(heap.length - 1)
    },
    pop() {
      const first = heap[0]
      const last = heap.pop()
      if (heap.length > 0 && last !== undefined && first !== last) {
        heap[0] = last
        down(0)
      }
      return first
    },
    peek: () => heap[0],
    next(kind) {
      let earliest = Number.POSITIVE_INFINITY
      for (const entry of heap) {
        if (entry.kind === kind && !entry.cancelled && entry.time < earliest) earliest = entry.time
      }
      return earliest
    },
    putOff(until, spreadMs, sleeps) {
      const alive = heap.filter(isAlive)
      const early = alive.filter((entry) => entry.kind === 'timer' && entry.time < until)
      const dozing = new Set(early.filter(sleeps))
      asleep.push(...dozing)
      spread(
        early.filter((entry) => !dozing.has(entry)),
        until,
        spreadMs,
      )
      heap = []
      for (const entry of alive) if (!dozing.has(entry)) this.push(entry)
    },
    wake(from, spreadMs, wakes) {
      if (asleep.length === 0) return
      const woken: Entry[] = []
      const dozing: Entry[] = []
      for (const entry of asleep) if (isAlive(entry)) (wakes(entry) ? woken : dozing).push(entry)
      asleep = dozing
      spread(woken, from, spreadMs)
      for (const entry of woken) this.push(entry)
    },
    get size() {
      return heap.length
    },
  }
}
