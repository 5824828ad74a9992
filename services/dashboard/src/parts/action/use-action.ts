import { type QueryFilters, useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { type Failure, failureOf } from '#services/dashboard/src/api/failure.ts'
import { SESSION_KEY } from '#services/dashboard/src/api/query-client.ts'
import { announce } from '#services/dashboard/src/frame/announcer.tsx'
import { recordOwnChange } from '#services/dashboard/src/parts/own-changes.ts'
import { withStepUp } from '#services/dashboard/src/parts/second-factor/step-up.ts'
import { showToast } from '#services/dashboard/src/parts/toast.tsx'

/** Fields that every action sends with its own input: spread them into the call. */
interface ActionIds {
  /** Id of the intent: a repeated intent is done once. */
  readonly opId: string
  readonly reason?: string
}

interface ActionPlan<TInput, TOutput> {
  /** Makes the call: `(ids, input) => api.exceptions.accept.mutate({ ...scope, ...ids, ...input })`. */
  readonly call: (ids: ActionIds, input: TInput) => Promise<TOutput>
  /** Announcement on success, for example "Accepted. The merchant is notified." None when the page shows it. */
  readonly done?: string | ((output: TOutput) => string)
  /** Queries to refetch: `[trpc.exceptions.pathFilter(), trpc.invoices.pathFilter()]`. */
  readonly refresh?: readonly QueryFilters[]
  readonly onDone?: (output: TOutput, input: TInput) => void
}

export interface Action<TInput, TOutput = unknown> {
  /** Runs it. Further calls while it runs are ignored. Resolves to the output, or null when it failed or was ignored. */
  readonly run: (input: TInput, reason?: string) => Promise<TOutput | null>
  readonly busy: boolean
  /** Why the last try failed; cleared by the next one. A conflict carries the second operator's message. */
  readonly failure: Failure | null
  readonly clear: () => void
}

/**
 * A change, done once: busy at once, ignores a second click, one id per intent that is kept over retries, and a code of
 * the authenticator where the server requires one. After a conflict everything named in `refresh` is refetched as well.
 */
export function useAction<TInput, TOutput>(plan: ActionPlan<TInput, TOutput>): Action<TInput, TOutput> {
  const client = useQueryClient()
  const running = useRef(false)
  const [intents] = useState(() => createIntents(() => crypto.randomUUID()))
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<Failure | null>(null)

  const run = async (input: TInput, reason?: string): Promise<TOutput | null> => {
    if (running.current) return null
    running.current = true
    setBusy(true)
    setFailure(null)
    const ids: ActionIds = {
      opId: intents.idFor(JSON.stringify([input, reason])),
      ...(reason === undefined ? {} : { reason }),
    }
    try {
      const output = await withStepUp(() => plan.call(ids, input))
      intents.end(null)
      recordOwnChange()
      const words = typeof plan.done === 'function' ? plan.done(output) : plan.done
      if (words !== undefined) tellDone(words)
      plan.onDone?.(output, input)
      return output
    } catch (error) {
      const why = failureOf(error)
      intents.end(why)
      setFailure(why)
      // The session ended meanwhile: asking for it shows the log-in above this form.
      if (why.code === 'UNAUTHORIZED') void client.invalidateQueries({ queryKey: SESSION_KEY })
      return null
    } finally {
      running.current = false
      setBusy(false)
      for (const filter of plan.refresh ?? []) void client.invalidateQueries(filter)
    }
  }
  return { run, busy, failure, clear: () => setFailure(null) }
}

function tellDone(words: string): void {
  announce(words)
  showToast({ message: words, autoClose: 5_000 })
}

/** The server may have done what it could not answer. */
const UNKNOWN: ReadonlySet<string> = new Set(['INTERNAL_SERVER_ERROR', 'TOO_MANY_REQUESTS'])

/** One thing that a person wants done, under one id over all its tries. */
interface Intents {
  /** The id of this intent: that of the last one while it is open and the same. */
  idFor(key: string): string
  /** A try ended; null when it succeeded. */
  end(failure: Pick<Failure, 'code' | 'transient'> | null): void
}

/**
 * The intent of a form. A refusal ends it, unless an earlier try had no answer: that one may have been done, and only its id shows it to the
 * server, whatever refused the tries after it (a session that ended, a code of the authenticator that is missing).
 */
export function createIntents(newId: () => string): Intents {
  let open: { readonly key: string; readonly id: string; isUnknown: boolean } | null = null
  return {
    idFor(key) {
      if (open?.key !== key) open = { key, id: newId(), isUnknown: false }
      return open.id
    },
    end(failure) {
      if (failure === null) open = null
      else if (open !== null && (failure.transient || UNKNOWN.has(failure.code))) open.isUnknown = true
      else if (open?.isUnknown !== true) open = null
    },
  }
}
