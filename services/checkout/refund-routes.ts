import { Router } from 'express'
import type { RefundView } from '#shared/contracts/checkout/refund-view.ts'
import { refundAddressBody } from '#shared/contracts/checkout/requests.ts'
import {
  type RefundRequest,
  readRefundRequest,
  submitRefundAddress,
} from '#shared/usecases/refunds/submit-refund-address.ts'
import { bodyOf, handle } from './answers.ts'
import type { CheckoutDeps } from './checkout-deps.ts'
import { admit, LIMITS } from './limits.ts'

/** The API for a customer with a refund's link. */
export function refundRoutes(deps: CheckoutDeps): Router {
  const router = Router()
  router.get(
    '/:token',
    handle(async (request, response) => {
      await admit(deps, request, LIMITS.read)
      response.json({ refund: view(await readRefundRequest(deps, String(request.params['token']))) })
    }),
  )
  router.post(
    '/:token',
    handle(async (request, response) => {
      const input = bodyOf(refundAddressBody, request)
      await admit(deps, request, LIMITS.question)
      response.json({ refund: view(await submitRefundAddress(deps, String(request.params['token']), input)) })
    }),
  )
  return router
}

function view(refund: RefundRequest): RefundView {
  const { merchant, shop, livemode, invoiceNumber, symbol, network, amount, status, address, txHash, expiresAt } =
    refund
  return {
    merchant,
    shop,
    mode: livemode ? 'live' : 'test',
    invoiceNumber,
    symbol,
    network,
    amount,
    status,
    address,
    txHash,
    expiresAt: Date.parse(expiresAt),
  }
}
