import { notifications } from '@mantine/notifications'
import { type QueryFilters, useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { type Failure, failureOf } from '../../api/failure.ts'
import { announce } from '../../frame/announcer.tsx'
import { recordOwnChange } from '../own-changes.ts'
import { withStepUp } from '../step-up.ts'

/** What every deed sends beside its own input: spread it into the call. */
export interface DeedIds {
  /** Names the intent: a repeat of the same one is done once. */
  readonly opId: string
  readonly reason?: string
}

export interface DeedPlan<TInput, TOutput> {
  /** Makes the call: `(ids, input) => api.exceptions.accept.mutate({ ...scope, ...ids, ...input })`. */
  readonly call: (ids: DeedIds, input: TInput) => Promise<TOutput>
  /** What is said when it is done: "Accepted. The merchant is told." Nothing when the page shows it. */
  readonly done?: string | ((output: TOutput) => string)
  /** Which answers are asked again: `[trpc.exceptions.pathFilter(), trpc.invoices.pathFilter()]`. */
  readonly refresh?: readonly QueryFilters[]
  readonly onDone?: (output: TOutput, input: TInput) => void
}

export interface Deed<TInput, TOutput = unknown> {
  /** Does it. While it runs further calls are ignored. Resolves to the output, or null when it failed or was ignored. */
  readonly run: (input: TInput, reason?: string) => Promise<TOutput | null>
  readonly busy: boolean
  /** Why the last try failed; cleared by the next one. A conflict carries the second operator's message. */
  readonly failure: Failure | null
  readonly clear: () => void
}

/**
 * A change of something, done once: busy at once, deaf to a second click, one id per intent that is kept over retries, a code of
 * the authenticator where the server wants one. After a conflict everything named in `refresh` is asked again as well.
 */
export function useDeed<TInput, TOutput>(plan: DeedPlan<TInput, TOutput>): Deed<TInput, TOutput> {
  const client = useQueryClient()
  const running = useRef(false)
  const intent = useRef<{ readonly key: string; readonly opId: string } | null>(null)
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<Failure | null>(null)

  const run = async (input: TInput, reason?: string): Promise<TOutput | null> => {
    if (running.current) return null
    running.current = true
    setBusy(true)
    setFailure(null)
    const key = JSON.stringify([input, reason])
    if (intent.current?.key !== key) intent.current = { key, opId: crypto.randomUUID() }
    const ids: DeedIds = { opId: intent.current.opId, ...(reason === undefined ? {} : { reason }) }
    try {
      const output = await withStepUp(() => plan.call(ids, input))
      intent.current = null
      recordOwnChange()
      const words = typeof plan.done === 'function' ? plan.done(output) : plan.done
      if (words !== undefined) tellDone(words)
      plan.onDone?.(output, input)
      return output
    } catch (error) {
      const why = failureOf(error)
      // What the server refused is over; what had no answer may have happened, so a repeat keeps its name.
      if (!why.transient) intent.current = null
      setFailure(why)
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
  notifications.show({
    message: words,
    autoClose: 5_000,
    withCloseButton: true,
    closeButtonProps: { 'aria-label': 'Close' },
  })
}
