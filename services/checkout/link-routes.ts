import { Router } from 'express'
import { payLinkBody } from '#shared/contracts/checkout/requests.ts'
import { PaymeshError } from '#shared/contracts/errors.ts'
import { listLinkOptions } from '#shared/usecases/payment-links/list-link-options.ts'
import { type LinkInvoice, payLink } from '#shared/usecases/payment-links/pay-link.ts'
import { viewPaymentLink } from '#shared/usecases/payment-links/view-payment-link.ts'
import { createSingleFlight } from '#shared/usecases/requests/single-flight.ts'
import { bodyOf, handle, idOf } from './answers.ts'
import type { CheckoutDeps } from './checkout-deps.ts'
import { admit, LIMITS, payerOf } from './limits.ts'

/** A payer's reads and actions on a payment link. Reading creates nothing. */
export function linkRoutes(deps: CheckoutDeps): Router {
  const router = Router()
  const operations = createSingleFlight<LinkInvoice>()

  router.get(
    '/:id',
    handle(async (request, response) => {
      await admit(deps, request, LIMITS.read)
      const link = await viewPaymentLink(deps, idOf(request))
      if (link === null) throw new PaymeshError('NOT_FOUND')
      if (link.retryAfter !== undefined) response.set('Retry-After', String(link.retryAfter))
      const isFirst = request.query['coins'] !== undefined
      const options =
        isFirst && link.isActive && link.amount.kind === 'fixed' ? await listLinkOptions(deps, link.id) : null
      response.json({ link, ...(options !== null && { options }) })
    }),
  )

  router.get(
    '/:id/assets',
    handle(async (request, response) => {
      await admit(deps, request, LIMITS.read)
      const options = await listLinkOptions(deps, idOf(request))
      if (options === null) throw new PaymeshError('NOT_FOUND')
      response.json(options)
    }),
  )

  router.post(
    '/:id/invoice',
    handle(async (request, response) => {
      const linkId = idOf(request)
      const { amount, actionId } = bodyOf(payLinkBody, request)
      const requestId = `req_${deps.random.uuid().replaceAll('-', '')}`
      const visitor = { source: payerOf(deps, request) }
      const invoice = await operations(`${linkId} ${actionId} ${amount ?? ''}`, () =>
        payLink(deps, { linkId, amount, actionId, requestId, visitor, admit: () => admit(deps, request, LIMITS.link) }),
      )
      response.json({ invoice: { id: invoice.id, status: invoice.status } })
    }),
  )
  return router
}
