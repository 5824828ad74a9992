import type { Request, Response } from 'express'
import { sendPlain } from '#services/checkout/plain/plain-document.ts'
import { plainInvoice, plainReceipt } from '#services/checkout/plain/plain-invoice.ts'
import { plainLink } from '#services/checkout/plain/plain-link.ts'
import { speechOf } from '#services/checkout/plain/plain-speech.ts'
import { stepOf } from '#services/checkout/web/src/format/step.ts'
import type { InvoiceView, LinkView } from '#shared/contracts/checkout/invoice-view.ts'
import { ASSET_OPTIONS, SHOWN_ID } from './checkout-views.ts'

/** The document that the server makes of an answer for a browser without scripts, with these styles. */
export function plainMarkup(
  path: string,
  answer: { readonly now: number; readonly view: InvoiceView } | { readonly link: LinkView },
  styles: readonly string[],
): string {
  const speech = speechOf({ query: {}, acceptsLanguages: () => ['en'] } as unknown as Request)
  const form = { actionId: SHOWN_ID, problem: null }
  let markup = ''
  const response = {
    set: () => response,
    type: () => response,
    send: (body: string) => {
      markup = body
    },
  }
  const page = () => {
    if ('link' in answer) return plainLink(speech, { ...form, link: answer.link, none: null, typed: '' })
    const { view, now } = answer
    if (path.includes('/receipt')) return plainReceipt(speech, { view, now })
    const options = stepOf(view, now) === 'pick' ? { assets: ASSET_OPTIONS, holdMs: 1_200_000 } : null
    return plainInvoice(speech, { ...form, view, now, options })
  }
  sendPlain(response as unknown as Response, { speech, styles }, page())
  return markup
}
