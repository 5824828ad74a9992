import { useRef, useState } from 'preact/hooks'
import type { InvoiceView } from '#shared/contracts/checkout/invoice-view.ts'
import { ask, forgetDeed, keptDeed } from '../data/ask.ts'
import { isFinal, problemText } from '../data/problem-text.ts'
import { plain } from '../format/plain.ts'
import { useSpeech } from '../words/words.tsx'

/** Something a payer does to an invoice. */
export interface Deed {
  /** Sends a wish; a second click while it runs is the same wish. `done` is called when it was granted. */
  run(what: 'asset' | 'price', body: Readonly<Record<string, string>>, done: (() => void) | null): Promise<void>
  readonly isBusy: boolean
  readonly problem: string | null
}

/** Sends wishes so that each is granted once, whatever gets lost on the way. */
export function useDeed(
  view: InvoiceView,
  accept: (view: InvoiceView, now: number) => void,
  refresh: () => void,
): Deed {
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
    const answer = await ask<{ readonly now: number; readonly view: InvoiceView }>(`/i/${view.id}/${what}`, {
      body: { ...body, deed: keptDeed(purpose) },
    })
    running.current = false
    setBusy(false)
    if (answer.ok) {
      forgetDeed(purpose)
      accept(answer.data.view, answer.data.now)
      done?.()
    } else if (answer.unchanged !== true) {
      if (isFinal(answer.problem)) forgetDeed(purpose)
      setProblem(problemText(speech, answer.problem, plain(view.merchant.name)))
      if (answer.problem.code === 'INVALID_STATE') refresh()
    }
  }
  return { run, isBusy, problem }
}
