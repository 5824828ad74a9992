import { type QueryFilters, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { type Failure, failureOf } from '../../api/failure.ts'
import { SESSION_KEY } from '../../api/query-client.ts'
import { announce } from '../../frame/announcer.tsx'
import { recordOwnChange } from '../own-changes.ts'
import { withStepUp } from '../second-factor/step-up.ts'
import { showToast } from '../toast/toast.tsx'
import { createIntents } from './intent.ts'

/** Fields that every action sends with its own input: spread them into the call. */
export interface ActionIds {
  /** Id of the intent: a repeated intent is done once. */
  readonly opId: string
  readonly reason?: string
}

export interface ActionPlan<TInput, TOutput> {
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
  /** Why the last try failed; cleared by the next one and, where it is about fields, by typing. A conflict carries the second operator's message. */
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

  // What is wrong with a field is said until the person changes it.
  useEffect(() => {
    if (failure === null || !isAboutFields(failure)) return
    const drop = () => setFailure(null)
    document.addEventListener('input', drop)
    return () => document.removeEventListener('input', drop)
  }, [failure])

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

const isAboutFields = ({ fields, needsStepUp, needsAuthenticator }: Failure): boolean =>
  !needsStepUp && !needsAuthenticator && Object.keys(fields).length > 0

function tellDone(words: string): void {
  announce(words)
  showToast({ message: words, autoClose: 5_000 })
}
