import { useRef, useState } from 'preact/hooks'
import type { InvoiceView } from '#shared/contracts/checkout/invoice-view.ts'
import { forgetAction, keptAction, request } from '../data/request.ts'
import { plain } from '../format/plain.ts'
import { isFinal, meaningOf, problemText } from '../format/problem-text.ts'
import { useSpeech } from '../locales/locale.tsx'

/** A payer's action on an invoice. */
export interface Action {
  /** Sends a request; a second click while it runs is the same request. `done` is called on success. */
  run(what: 'asset' | 'price', body: Readonly<Record<string, string>>, done: (() => void) | null): Promise<void>
  readonly isBusy: boolean
  readonly problem: string | null
}

/** Sends requests so that each takes effect once, whatever responses are lost. */
export function useAction(
  view: InvoiceView,
  accept: (view: InvoiceView, now: number) => void,
  refresh: () => void,
): Action {
  const speech = useSpeech()
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const running = useRef(false)

  async function run(
    what: 'asset' | 'price',
    body: Readonly<Record<string, string>>,
    done: (() => void) | null,
  ): Promise<void> {
    if (running.current) return
    running.current = true
    setBusy(true)
    setProblem(null)
    const purpose = `${view.id} ${what} ${Object.values(body).join(' ')}`
    const answer = await request<{ readonly now: number; readonly view: InvoiceView }>(
      `/i/${view.id}/${what}`,
      'view',
      {
        body: { ...body, actionId: keptAction(purpose) },
      },
    )
    running.current = false
    setBusy(false)
    if (answer.ok) {
      forgetAction(purpose)
      accept(answer.data.view, answer.data.now)
      done?.()
    } else {
      if (isFinal(answer.problem)) forgetAction(purpose)
      setProblem(problemText(speech, answer.problem, plain(view.merchant.name)))
      if (answer.problem.code === 'INVALID_STATE' || meaningOf(answer.problem) === 'unknown') refresh()
    }
  }
  return { run, isBusy, problem }
}
