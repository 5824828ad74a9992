import { z } from 'zod'
import { boundedText } from '#shared/contracts/bounded-text.ts'
import { paymentLinkBody } from '#shared/contracts/http/payment-link-create.ts'
import { paymentLinkResource } from '#shared/contracts/http/payment-link-resource.ts'
import { validate } from '#shared/contracts/http/validate.ts'
import { LINK_USES_MAX } from '#shared/ports/payment-links.ts'
import { editPaymentLink } from '#shared/usecases/payment-links/edit-payment-link.ts'
import { getLimitedLink, listLimitedLinks } from '#shared/usecases/payment-links/limited-links.ts'
import { createPaymentLink, deactivatePaymentLink } from '#shared/usecases/payment-links/manage-payment-links.ts'
import { readPage } from '#shared/usecases/requests/list-cursor.ts'
import { once } from '../once.ts'
import { router, workspaceMutation, workspaceQuery } from '../trpc.ts'
import { orderInput, pageInput } from '../wire/money-wire.ts'

const about = z.object({ id: z.uuid() })
const fields = z.strictObject({
  product_id: z.uuid().optional(),
  title: boundedText(200).optional(),
  description: boundedText(500).optional(),
  currency: boundedText(3).optional(),
  amount: boundedText(40).optional(),
  allow_custom_amount: z.boolean().optional(),
  min_amount: boundedText(40).optional(),
  max_amount: boundedText(40).optional(),
})

/** Limits that only operators set; the API makes links without any. */
const limits = {
  max_uses: z.int().min(1).max(LINK_USES_MAX).optional(),
  expires_at: boundedText(40).check(z.iso.datetime()).optional(),
}
const limitedLink = z.object({
  ...paymentLinkResource.shape,
  max_uses: z.number().nullable(),
  uses_taken: z.number().nullable(),
  expires_at: z.string().nullable(),
})

/** Pages that accept payments without a shop. */
export const paymentLinksRouter = router({
  list: workspaceQuery('viewer')
    .input(z.object({ ...orderInput, ...pageInput }))
    .output(z.object({ items: z.array(limitedLink), nextCursor: z.string().nullable() }))
    .query(async ({ ctx, input }) => {
      const { money } = ctx.deps
      const { workspaceId, mode, order } = input
      const scope = { list: 'operator-links', workspaceId, mode, filters: { order } }
      const { page, meta } = await readPage(money, scope, input, (place) =>
        listLimitedLinks(money, { workspaceId, mode, order, ...place }),
      )
      return { items: [...page], nextCursor: meta.next_cursor }
    }),

  get: workspaceQuery('viewer')
    .input(about)
    .output(limitedLink)
    .query(({ ctx, input }) =>
      getLimitedLink(ctx.deps.money, { workspaceId: input.workspaceId, mode: input.mode, linkId: input.id }),
    ),

  create: workspaceMutation('support', { worksWhile: 'active' })
    .input(z.object({ link: fields.extend(limits) }))
    .output(paymentLinkResource)
    .mutation(async ({ ctx, input }) => {
      const { max_uses: usesMax = null, expires_at: end, ...link } = input.link
      const body = validate(paymentLinkBody, link)
      const expiresAt = end === undefined ? null : Date.parse(end)
      const { workspace } = ctx
      return await once(ctx, { ...input, path: '/payment-links', request: input.link }, (linkId) =>
        createPaymentLink(ctx.deps.money, {
          workspace,
          mode: input.mode,
          body,
          linkId,
          limits: { usesMax, expiresAt },
          attribution: { by: ctx.actor },
        }),
      )
    }),

  update: workspaceMutation('support', { worksWhile: 'active' })
    .input(
      about.extend({
        /** `updated_at` of the link as the person saw it, in milliseconds. */
        version: z.int().min(0),
        /** All of them: what is left out is removed. */
        link: z.strictObject({
          title: boundedText(200),
          ...{ description: fields.shape.description, amount: fields.shape.amount },
          ...{ min_amount: fields.shape.min_amount, max_amount: fields.shape.max_amount },
          ...limits,
        }),
      }),
    )
    .output(limitedLink)
    .mutation(async ({ ctx, input }) => {
      const { money } = ctx.deps
      const { workspaceId, mode, id: linkId, version, opId, reason = null } = input
      if (!ctx.operation.isDone) {
        const { max_uses: usesMax = null, expires_at: end, ...typed } = input.link
        await editPaymentLink(money, {
          ...{ workspaceId, mode, linkId, version, opId, reason, actor: ctx.actor },
          fields: typed,
          limits: { usesMax, expiresAt: end === undefined ? null : Date.parse(end) },
        })
      }
      return await getLimitedLink(money, { workspaceId, mode, linkId })
    }),

  deactivate: workspaceMutation('support', { worksWhile: 'suspended' })
    .input(about)
    .output(paymentLinkResource)
    .mutation(({ ctx, input }) => {
      const { workspaceId, mode, id, reason } = input
      const attribution = { by: ctx.actor, ...(reason !== undefined && { reason }) }
      return deactivatePaymentLink(ctx.deps.money, { workspaceId, mode, linkId: id, attribution })
    }),
})
