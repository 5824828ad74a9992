import type { InvoiceRepository } from '#shared/db/invoices/invoice-repository.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { Marks } from '#shared/ports/marks.ts'
import type { Clock } from '#shared/ports/runtime.ts'

/** Numbers a process reserves once it detects that others create invoices of the same workspace. */
const BLOCK = 16
/** Two conflicts within this time mean that another process is busy with the same workspace. */
const CONTENTION_MS: Ms = 60_000
/** Workspaces cached; dropping them all costs one read each. */
const COUNTERS_MAX = 50_000

interface Counter {
  /** First number since the last read of the store; conflicts on lower ones are outdated. */
  readonly first: number
  next: number
  /** First number that is not reserved; infinite while no other process counts. */
  readonly end: number
  readonly conflictAt: Ms | null
}

/** Invoice numbers: they count up per workspace and mode, each is used once, and gaps are allowed. */
export type InvoiceNumbers = ReturnType<typeof createInvoiceNumbers>

/** Counts in memory and lets the unique index of the invoices decide, so that a number costs no write. */
export function createInvoiceNumbers(deps: {
  readonly invoices: Pick<InvoiceRepository, 'highestNumber'>
  readonly marks: Pick<Marks, 'lowestNumber'>
  readonly clock: Clock
  /** Grows with each loss of the connection to the store, which may come back from an earlier time. */
  readonly storeLosses: () => number
}) {
  const counters = new Map<string, Counter>()
  const outdated = new Map<string, { readonly counter: Counter; readonly contended: boolean; readonly at: Ms }>()
  const loading = new Map<string, Promise<Counter>>()

  let knownLosses = deps.storeLosses()

  /** What was counted before a loss is no proof of what the store says after it: other processes may have counted on in the lost minutes. */
  function forgetAfterLoss(): void {
    if (deps.storeLosses() === knownLosses) return
    knownLosses = deps.storeLosses()
    counters.clear()
    outdated.clear()
  }

  async function load(id: string, workspaceId: string, mode: Mode): Promise<Counter> {
    const before = outdated.get(id)
    // The marks are read before the store, and by the first reading of a series alone: from then on this process counts.
    const marked = before === undefined ? await deps.marks.lowestNumber(workspaceId, mode) : 0
    const stored = Math.max(marked, await deps.invoices.highestNumber(workspaceId, mode))
    // Never backwards: numbers of this process that are not stored yet would collide.
    const highest = Math.max(stored, (before?.counter.next ?? 1) - 1)
    // The first number of a block reserves the block: the process that inserts it first uses the rest by convention.
    const first = before?.contended ? Math.ceil(highest / BLOCK) * BLOCK + 1 : highest + 1
    const end = before?.contended ? first + BLOCK : Number.POSITIVE_INFINITY
    const counter = { first, next: first, end, conflictAt: before?.at ?? null }
    outdated.delete(id)
    if (counters.size >= COUNTERS_MAX) counters.clear()
    counters.set(id, counter)
    return counter
  }

  /** Concurrent requests share one read, otherwise they would all take the same number. */
  function loadOnce(id: string, workspaceId: string, mode: Mode): Promise<Counter> {
    const running = loading.get(id)
    if (running !== undefined) return running
    const started = load(id, workspaceId, mode).finally(() => loading.delete(id))
    loading.set(id, started)
    return started
  }

  function retire(id: string, counter: Counter, contended: boolean, at: Ms): void {
    counters.delete(id)
    outdated.set(id, { counter, contended, at })
  }

  return {
    async take(workspaceId: string, mode: Mode): Promise<number> {
      const id = `${workspaceId}:${mode}`
      for (;;) {
        forgetAfterLoss()
        const counter = counters.get(id) ?? (await loadOnce(id, workspaceId, mode))
        if (deps.storeLosses() !== knownLosses) continue
        if (counter.next < counter.end) return counter.next++
        // After a used-up block another one follows while the contention lasts.
        const conflictAt = counter.conflictAt ?? 0
        if (counters.get(id) === counter) retire(id, counter, deps.clock.now() - conflictAt < CONTENTION_MS, conflictAt)
      }
    },

    /** Reports that the unique index refused this number. */
    conflicted(workspaceId: string, mode: Mode, number: number): void {
      const id = `${workspaceId}:${mode}`
      const counter = counters.get(id)
      if (counter === undefined || number < counter.first) return
      const now = deps.clock.now()
      const contended = counter.conflictAt !== null && now - counter.conflictAt < CONTENTION_MS
      retire(id, counter, contended, now)
    },
  }
}
