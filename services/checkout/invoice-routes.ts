import { createHash } from 'node:crypto'
import { type Request, type Response, Router } from 'express'
import type { HashAnswer, InvoiceView } from '#shared/contracts/checkout/invoice-view.ts'
import {
  chooseAssetBody,
  hintBody,
  paidHashBody,
  renewPriceBody,
  signedPaymentBody,
  walletPaymentBody,
} from '#shared/contracts/checkout/requests.ts'
import { PaymeshError } from '#shared/contracts/errors.ts'
import { within } from '#shared/contracts/within.ts'
import { SCARCE } from '#shared/domain/scarce.ts'
import { QUEUES } from '#shared/ports/runtime.ts'
import { answerPaidHash } from '#shared/usecases/diagnostics/answer-paid-hash.ts'
import { chooseAsset } from '#shared/usecases/invoices/choose-asset.ts'
import { notePaymentHint } from '#shared/usecases/invoices/note-payment-hint.ts'
import { prepareWalletPayment } from '#shared/usecases/invoices/prepare-wallet-payment.ts'
import { renewQuote } from '#shared/usecases/invoices/renew-quote.ts'
import { sendWalletPayment } from '#shared/usecases/invoices/send-wallet-payment.ts'
import { viewInvoice } from '#shared/usecases/invoices/view-invoice.ts'
import { listAssetOptions } from '#shared/usecases/quotes/availability.ts'
import { createSingleFlight } from '#shared/usecases/requests/single-flight.ts'
import { bodyOf, handle, idOf, tagOf } from './answers.ts'
import type { CheckoutDeps } from './checkout-deps.ts'
import { admit, LIMITS, payerOf, TooMany } from './limits.ts'
import type { LiveStreams } from './live-stream.ts'

/** A node may be slow; the payer gets a response within this time. */
const QUESTION_MS = 12_000
/** Concurrent node queries: of the whole process, and of one payer, so that slow responses to one delay nobody else. */
const { total: QUESTIONS_MAX, perOwner: QUESTIONS_PER_PAYER_MAX } = SCARCE.openQuestions.budget
const QUESTION_RETRY_S = 5

/** A payer's reads and actions on one invoice. */
export function invoiceRoutes(deps: CheckoutDeps, streams: LiveStreams): Router {
  const router = Router()
  const readView = createSingleFlight<InvoiceView | null>()

  const view = async (id: string): Promise<InvoiceView> => {
    const found = await readView(id, () => viewInvoice(deps, id))
    if (found === null) throw new PaymeshError('NOT_FOUND')
    return found
  }

  router.get(
    '/:id',
    handle(async (request, response) => {
      await admit(deps, request, LIMITS.read)
      const found = await view(idOf(request))
      const tag = `"${tagOf(JSON.stringify(found))}"`
      response.set('ETag', tag)
      if (request.get('if-none-match') === tag) return void response.status(304).end()
      // What a page shows first: requested with its document, before anybody can see whether there is a choice.
      const options =
        request.query['coins'] !== undefined && found.status === 'new' ? await listAssetOptions(deps, found.id) : null
      response.json({ now: deps.clock.now(), view: found, ...(options !== null && { options }) })
    }),
  )

  router.get(
    '/:id/assets',
    handle(async (request, response) => {
      await admit(deps, request, LIMITS.read)
      const options = await listAssetOptions(deps, idOf(request))
      if (options === null) throw new PaymeshError('NOT_FOUND')
      response.json(options)
    }),
  )

  router.get(
    '/:id/live',
    handle(async (request, response) => {
      await admit(deps, request, LIMITS.read)
      await streams.serve(request, response)
    }),
  )

  addRequestRoutes(router, deps)
  router.post('/:id/question', handle(createQuestionHandler(deps)))
  addWalletRoutes(router, deps)
  router.post(
    '/:id/hint',
    handle(async (request, response) => {
      const invoiceId = idOf(request)
      const { txHash } = bodyOf(hintBody, request)
      await admit(deps, request, LIMITS.hint)
      const scanner = await notePaymentHint(deps, { invoiceId, txHash })
      if (scanner !== null) deps.notifier.notify(QUEUES.scan, scanner)
      // A separate read: one that began before would not show the hint.
      response.json({ now: deps.clock.now(), view: await viewInvoice(deps, invoiceId) })
    }),
  )
  return router
}

/** For wallets that cannot build, or cannot send, what they sign. */
function addWalletRoutes(router: Router, deps: CheckoutDeps): void {
  const nodes = { ...deps, nodeOf: deps.nodes.clientOf }

  router.post(
    '/:id/wallet',
    handle(async (request, response) => {
      const invoiceId = idOf(request)
      const { account } = bodyOf(walletPaymentBody, request)
      await admit(deps, request, LIMITS.wallet)
      const transaction = await within(prepareWalletPayment(nodes, { invoiceId, account }), QUESTION_MS)
      response.json({ transaction })
    }),
  )
  router.post(
    '/:id/signed',
    handle(async (request, response) => {
      const invoiceId = idOf(request)
      const signed = bodyOf(signedPaymentBody, request)
      await admit(deps, request, LIMITS.signed)
      const outcome = await within(sendWalletPayment(nodes, { invoiceId, ...signed }), QUESTION_MS)
      // A node that takes longer may have it.
      response.json({ outcome: outcome ?? 'unclear' })
    }),
  )
}

/** A payer's choices: an asset, or a new quote for it. */
function addRequestRoutes(router: Router, deps: CheckoutDeps): void {
  const requests = createSingleFlight<InvoiceView | null>()
  /** Many clicks at once are one request: one of them takes an address, the others wait for it and read the result. */
  const once = async (request: string, id: string, response: Response, work: () => Promise<unknown>): Promise<void> => {
    const found = await requests(`${id} ${request}`, async () => {
      await work()
      // A separate read: one that began before the change would show the earlier state.
      return await viewInvoice(deps, id)
    })
    response.json({ now: deps.clock.now(), view: found })
  }

  router.post(
    '/:id/asset',
    handle(async (request, response) => {
      const invoiceId = idOf(request)
      const { asset, actionId } = bodyOf(chooseAssetBody, request)
      await once(asset, invoiceId, response, () =>
        chooseAsset(deps, {
          invoiceId,
          asset,
          opId: opIdOf('paymentMethod', asset, actionId),
          visitor: { source: payerOf(deps, request) },
          admit: () => admit(deps, request, LIMITS.paymentMethod),
        }),
      )
    }),
  )

  router.post(
    '/:id/price',
    handle(async (request, response) => {
      const invoiceId = idOf(request)
      const { actionId } = bodyOf(renewPriceBody, request)
      await once('price', invoiceId, response, () =>
        renewQuote(deps, {
          invoiceId,
          opId: opIdOf('renew', '', actionId),
          visitor: { source: payerOf(deps, request) },
          admit: () => admit(deps, request, LIMITS.paymentMethod),
        }),
      )
    }),
  )
}

/** The id of a payer's action, bound to its content. */
export function opIdOf(kind: string, subject: string, actionId: string): string {
  return createHash('sha256').update(`checkout ${kind} ${subject} ${actionId}`).digest('base64url')
}

/** "I paid but nothing happened": limited per payer, per process and in time, because nodes are queried. */
function createQuestionHandler(deps: CheckoutDeps) {
  const running = new Map<string, number>()
  let total = 0
  return async (request: Request, response: Response): Promise<void> => {
    const invoiceId = idOf(request)
    const { txHash } = bodyOf(paidHashBody, request)
    await admit(deps, request, LIMITS.question)
    const payer = payerOf(deps, request)
    const ofPayer = running.get(payer) ?? 0
    if (ofPayer >= QUESTIONS_PER_PAYER_MAX || total >= QUESTIONS_MAX) throw new TooMany(QUESTION_RETRY_S)
    running.set(payer, ofPayer + 1)
    total += 1
    const pending = answerPaidHash(deps, { invoiceId, txHash }).finally(() => {
      total -= 1
      const left = (running.get(payer) ?? 1) - 1
      if (left === 0) running.delete(payer)
      else running.set(payer, left)
    })
    const answer = await within(pending, QUESTION_MS)
    const late: HashAnswer = { verdict: 'cannot_look', network: null, confirmations: null, requiredConfirmations: null }
    response.json({ answer: answer ?? late })
  }
}
