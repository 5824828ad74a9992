import express, { type NextFunction, type Request, type RequestHandler, type Response, Router } from 'express'
import { handle, idOf, limitReads, publicError, retryAfterOf } from '#services/checkout/answers.ts'
import type { CheckoutDeps } from '#services/checkout/checkout-deps.ts'
import { opIdOf } from '#services/checkout/invoice-routes.ts'
import { admit, LIMITS, payerOf } from '#services/checkout/limits.ts'
import { isFinal, problemText, waitText } from '#services/checkout/web/src/format/problem-text.ts'
import { amountFault, readTypedAmount } from '#services/checkout/web/src/format/typed-amount.ts'
import type { InvoiceView, LinkView } from '#shared/contracts/checkout/invoice-view.ts'
import { chooseAssetBody, payLinkBody, renewPriceBody } from '#shared/contracts/checkout/requests.ts'
import { PaymeshError } from '#shared/contracts/errors.ts'
import { html } from '#shared/contracts/html.ts'
import { validate } from '#shared/contracts/http/validate.ts'
import { chooseAsset } from '#shared/usecases/invoices/choose-asset.ts'
import { renewQuote } from '#shared/usecases/invoices/renew-quote.ts'
import { viewInvoice } from '#shared/usecases/invoices/view-invoice.ts'
import { listLinkOptions } from '#shared/usecases/payment-links/list-link-options.ts'
import { payLink } from '#shared/usecases/payment-links/pay-link.ts'
import { viewPaymentLink } from '#shared/usecases/payment-links/view-payment-link.ts'
import { listAssetOptions } from '#shared/usecases/quotes/availability.ts'
import { message, sendPlain } from './plain-document.ts'
import { plainInvoice, plainReceipt } from './plain-invoice.ts'
import { plainLink } from './plain-link.ts'
import { speechOf } from './plain-speech.ts'

/** A form has an asset or an amount, and the id of its action. */
const FORM_BYTES_MAX = 1_024

/**
 * The checkout without JavaScript, made by the server: `/i/{id}/plain`, its receipt, and `/l/{id}/plain`. Each form is sent to the same use
 * cases, under the same limits and budgets, as the requests of the pages with JavaScript, and answered with 303. `styles` are those of
 * the built pages.
 */
export function plainRoutes(deps: CheckoutDeps, styles: readonly string[]): Router {
  const router = Router()
  const pages = { deps, styles }
  router.use('/:kind/:id{/receipt}/plain', limitReads)
  router.get('/i/:id/plain', invoicePage(pages, false))
  router.get('/i/:id/plain/coins', invoicePage(pages, true))
  router.get(
    '/i/:id/receipt/plain',
    handle(async (request, response) => {
      await admit(deps, request, LIMITS.read)
      const speech = speechOf(request)
      const view = await invoiceOf(deps, request)
      sendPlain(response, { speech, styles }, plainReceipt(speech, { view, now: deps.clock.now() }))
    }),
  )
  router.get(
    '/l/:id/plain',
    handle(async (request, response) => {
      await admit(deps, request, LIMITS.read)
      await showLink(pages, request, response, { link: await linkOf(deps, request), typed: '', problem: null })
    }),
  )
  const form = [ownFormsOnly(deps), express.urlencoded({ extended: false, limit: FORM_BYTES_MAX })]
  router.post('/i/:id/plain/asset', ...form, formOf(pages, 'asset'))
  router.post('/i/:id/plain/price', ...form, formOf(pages, 'price'))
  router.post(
    '/l/:id/plain',
    ...form,
    handle(async (request, response) => await sendLink(pages, request, response)),
  )
  // The address of a form that was refused, opened again.
  router.get('/i/:id/plain/:form', (request, response) => response.redirect(303, pageOf(request)))
  router.use('/:kind/:id{/receipt}/plain', problemPage(pages))
  return router
}

interface Pages {
  readonly deps: CheckoutDeps
  readonly styles: readonly string[]
}

/**
 * Prevents cross-site request forgery, and counts the request. Browsers send the origin of every form (these pages' referrer policy lets
 * them), and current ones whether it is the page's own, which also holds behind a proxy that changes `Host`.
 */
function ownFormsOnly(deps: CheckoutDeps): RequestHandler {
  return (request, _response, next) => {
    const site = request.get('sec-fetch-site')
    const { origin = '' } = request.headers
    const isOwn =
      site === undefined
        ? URL.canParse(origin) && new URL(origin).host === request.headers.host
        : site === 'same-origin'
    if (!isOwn) return next(new PaymeshError('VALIDATION_ERROR', { status: 403, internal: `a form of ${origin}` }))
    admit(deps, request, LIMITS.post).then(() => next(), next)
  }
}

async function invoiceOf(deps: CheckoutDeps, request: Request): Promise<InvoiceView> {
  const view = await viewInvoice(deps, idOf(request))
  if (view === null) throw new PaymeshError('NOT_FOUND')
  return view
}

async function linkOf(deps: CheckoutDeps, request: Request): Promise<LinkView> {
  const link = await viewPaymentLink(deps, idOf(request))
  if (link === null) throw new PaymeshError('NOT_FOUND')
  return link
}

/** The invoice's page; with the coins where there is none yet, or where the payer wants another one. */
function invoicePage(pages: Pages, choosesAgain: boolean): RequestHandler {
  return handle(async (request, response) => {
    await admit(pages.deps, request, LIMITS.read)
    await showInvoice(pages, request, response, { choosesAgain, problem: null })
  })
}

async function showInvoice(
  { deps, styles }: Pages,
  request: Request,
  response: Response,
  { choosesAgain, problem }: { readonly choosesAgain: boolean; readonly problem: string | null },
): Promise<void> {
  const speech = speechOf(request)
  const view = await invoiceOf(deps, request)
  const now = deps.clock.now()
  const isOpen =
    view.status === 'new' ? now < view.expiresAt : choosesAgain && view.status === 'pending' && view.canChoose
  const options = isOpen ? await listAssetOptions(deps, view.id) : null
  const shown = { view, now, options, problem, actionId: deps.random.uuid() }
  sendPlain(response, { speech, styles }, plainInvoice(speech, shown))
}

/** A choice of a coin, or a new price. What is refused is said above the same form. */
function formOf(pages: Pages, kind: 'asset' | 'price'): RequestHandler {
  const { deps } = pages
  return handle(async (request, response) => {
    const invoiceId = idOf(request)
    const visitor = { source: payerOf(deps, request) }
    const limited = { invoiceId, visitor, admit: () => admit(deps, request, LIMITS.paymentMethod) }
    try {
      if (kind === 'asset') {
        const { asset, actionId } = validate(chooseAssetBody, request.body)
        await chooseAsset(deps, { ...limited, asset, opId: opIdOf('paymentMethod', asset, actionId) })
      } else {
        const { actionId } = validate(renewPriceBody, request.body)
        await renewQuote(deps, { ...limited, opId: opIdOf('renew', '', actionId) })
      }
    } catch (error) {
      const { merchant } = await invoiceOf(deps, request)
      const problem = refusalText(request, response, error, merchant.name)
      return await showInvoice(pages, request, response, { choosesAgain: kind === 'asset', problem })
    }
    response.redirect(303, `/i/${invoiceId}/plain${speechOf(request).query}`)
  })
}

async function showLink(
  { deps, styles }: Pages,
  request: Request,
  response: Response,
  shown: { readonly link: LinkView; readonly typed: string; readonly problem: string | null },
): Promise<void> {
  const speech = speechOf(request)
  const { id, isActive, amount } = shown.link
  const options = isActive && amount.kind === 'fixed' ? await listLinkOptions(deps, id) : null
  const page = { ...shown, none: options?.none ?? null, actionId: deps.random.uuid() }
  sendPlain(response, { speech, styles }, plainLink(speech, page))
}

async function sendLink(pages: Pages, request: Request, response: Response): Promise<void> {
  const { deps } = pages
  const link = await linkOf(deps, request)
  const typed = String((request.body as Readonly<Record<string, unknown>> | undefined)?.['amount'] ?? '').slice(0, 31)
  const read = link.amount.kind === 'fixed' ? null : readTypedAmount(typed, link.currency, link.amount)
  const speech = speechOf(request)
  if (read !== null && read.kind !== 'amount') {
    response.status(400)
    return await showLink(pages, request, response, { link, typed, problem: amountFault(speech, read, link) })
  }
  try {
    const amount = read === null ? {} : { amount: read.value }
    const input = validate(payLinkBody, { ...(request.body as object), ...amount })
    // A form that the browser kept and sends with another amount is another action.
    const actionId = opIdOf('link', input.amount ?? '', input.actionId)
    const invoice = await payLink(deps, {
      ...{ linkId: link.id, amount: input.amount, actionId },
      requestId: `req_${deps.random.uuid().replaceAll('-', '')}`,
      visitor: { source: payerOf(deps, request) },
      admit: () => admit(deps, request, LIMITS.link),
    })
    response.redirect(303, `/i/${invoice.id}/plain${speech.query}`)
  } catch (error) {
    const refusal = refusalText(request, response, error, link.merchant.name)
    const isSmall = publicError(error).code === 'AMOUNT_BELOW_MINIMUM'
    const problem = isSmall ? speech.say('amount.unpayable') : refusal
    await showLink(pages, request, response, { link: await linkOf(deps, request), typed, problem })
  }
}

/** The words for a refused form; sets the response's status. Faults that are nobody's doing are thrown again. */
function refusalText(request: Request, response: Response, error: unknown, merchant: string): string {
  const known = publicError(error)
  const retryAfter = retryAfterOf(known)
  const problem = {
    code: known.code,
    status: known.status,
    retryAfter,
    paths: (known.details ?? []).map(({ path }) => path),
  }
  if (!isFinal(problem) && known.status !== 429 && known.code === 'INTERNAL_ERROR') throw error
  if (retryAfter !== null) response.set('Retry-After', String(retryAfter))
  response.status(known.status)
  return problemText(speechOf(request), problem, merchant)
}

/** The page whose form this request sends. */
function pageOf(request: Request): string {
  const { kind = 'i', id = '' } = request.params
  return `/${encodeURIComponent(String(kind))}/${encodeURIComponent(String(id))}/plain${speechOf(request).query}`
}

/** Any failure is a page in words that leads on; one that passes loads the page by itself, and never sends a form again. */
function problemPage({ deps, styles }: Pages) {
  return (error: unknown, request: Request, response: Response, next: NextFunction): void => {
    if (response.headersSent) {
      if (!response.writableEnded) next(error)
      return
    }
    const known = publicError(error)
    if (known.status >= 500) deps.logger.error({ path: request.path, error }, 'a page without JavaScript failed')
    const speech = speechOf(request)
    const { say, words } = speech
    const wait = retryAfterOf(known)
    if (wait !== null) response.set('Retry-After', String(wait))
    // Of a form its page; an empty address is the document's own.
    const again = request.method === 'POST' ? pageOf(request) : ''
    if (wait !== null) response.set('Refresh', again === '' ? String(wait) : `${wait}; url=${again}`)
    const isMissing = known.status === 404
    const title = say(isMissing ? 'missing.title' : 'failed.title')
    const texts: Readonly<Record<number, string>> = {
      403: words.foreign,
      404: say('missing'),
      429: say('away.busy', { t: waitText(wait ?? 60) }),
    }
    const text = texts[known.status] ?? say(known.status < 500 ? 'problem.other' : 'failed')
    const body = html`${message(title, text)}${isMissing ? null : html`<p class="tip"><a href="${again}">${words.back}</a></p>`}`
    response.status(known.status)
    sendPlain(response, { speech, styles }, { title, bill: null, body, scripted: null })
  }
}
