import { z } from 'zod'
import { boundedText } from '#shared/contracts/bounded-text.ts'
import { invoiceCreateBody } from '#shared/contracts/http/invoice-create.ts'
import { validate } from '#shared/contracts/http/validate.ts'
import { createInvoiceByHand } from '#shared/usecases/invoices/create-invoice-by-hand.ts'
import { bodyFingerprint } from '#shared/usecases/requests/idempotency-scope.ts'
import { router, workspaceMutation } from '../trpc.ts'

/** The same fields as in the REST API; its rules check the content. */
const fields = z.strictObject({
  amount: boundedText(40),
  currency: boundedText(3),
  description: boundedText(500).optional(),
  order_id: boundedText(120).optional(),
  asset: boundedText(40).optional(),
  customer: z.strictObject({ email: boundedText(254).optional(), name: boundedText(200).optional() }).optional(),
  expires_in: z.number().optional(),
})

/** Manual creation of an invoice. */
export const createByHandRouter = router({
  create: workspaceMutation('support', { worksWhile: 'active' })
    .input(z.object({ invoice: fields }))
    .output(z.object({ id: z.string(), number: z.number(), checkoutUrl: z.string() }))
    .mutation(async ({ ctx, input }) => {
      const { money } = ctx.deps
      const { mode, opId } = input
      const invoice = await createInvoiceByHand(money, {
        workspace: ctx.workspace,
        mode,
        body: validate(invoiceCreateBody[mode], input.invoice),
        opId,
        attribution: { by: ctx.actor, ...(input.reason !== undefined && { reason: input.reason }) },
        fingerprint: bodyFingerprint(Buffer.from(JSON.stringify(input.invoice), 'utf8')),
        requestId: ctx.requestId,
      })
      const { id, number } = invoice.terms
      return { id, number, checkoutUrl: `${money.urls.checkoutBaseUrl}/i/${id}` }
    }),
})
