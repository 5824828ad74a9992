import { useEffect, useState } from 'preact/hooks'
import type { LinkView } from '#shared/contracts/checkout/invoice-view.ts'
import type { InvoiceStatus } from '#shared/domain/enumerations.ts'
import { forgetAction, keptAction, request } from '../data/request.ts'
import { plain } from '../format/plain.ts'
import { isFinal, meaningOf, problemText } from '../format/problem-text.ts'
import { useSpeech } from '../locales/locale.tsx'

/** A link, and how to read it again. */
export interface LinkProps {
  readonly link: LinkView
  readonly reload: () => Promise<void>
}

/**
 * Makes this payer's invoice and opens its page after `prepare`; a second click meanwhile does nothing. A failure is explained, and the
 * link is read again when it has changed.
 */
export function usePayment({ link, reload }: LinkProps) {
  const speech = useSpeech()
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  useEffect(() => {
    // The browser's memory brings the page back as it was left.
    window.onpageshow = () => setBusy(false)
  }, [])

  async function pay(body: InvoiceBody, prepare: (invoiceId: string) => Promise<void>): Promise<void> {
    if (isBusy) return
    setBusy(true)
    setProblem(null)
    const made = await makeInvoice(link.id, body)
    if (typeof made === 'string') {
      await prepare(made)
      location.assign(`/i/${made}${location.search}`)
      return
    }
    setBusy(false)
    // Another payer was faster, or the merchant ended or removed it: the page then shows what the link has become.
    if (made.code === 'INVALID_STATE' || meaningOf(made) === 'unknown') await reload()
    const isSmall = made.code === 'AMOUNT_BELOW_MINIMUM'
    setProblem(isSmall ? speech.say('amount.unpayable') : problemText(speech, made, plain(link.merchant.name)))
  }
  return { pay, isBusy, problem }
}

const OPEN: ReadonlySet<InvoiceStatus> = new Set(['new', 'pending', 'partial', 'confirming'])

type InvoiceBody = { readonly amount?: string }
type Creation = { readonly invoice: { readonly id: string; readonly status: InvoiceStatus } }

/** The id of this browser's invoice: the one of an earlier click while it is open, otherwise a new one. */
async function makeInvoice(linkId: string, body: InvoiceBody) {
  const purpose = `link ${linkId} ${body.amount ?? ''}`
  for (let attempt = 0; ; attempt += 1) {
    const answer = await request<Creation>(`/l/${linkId}/invoice`, 'invoice', {
      body: { ...body, actionId: keptAction(purpose) },
    })
    if (answer.ok) {
      const { id, status } = answer.data.invoice
      if (OPEN.has(status) || attempt > 0) return id
      // The earlier one is completed: this click creates another.
      forgetAction(purpose)
    } else {
      const { problem } = answer
      if (isFinal(problem)) forgetAction(purpose)
      return problem
    }
  }
}
