import { z } from 'zod'
import { boundedText } from '#shared/contracts/bounded-text.ts'
import { productBody } from '#shared/contracts/http/product-create.ts'
import { productResource } from '#shared/contracts/http/product-resource.ts'
import { validate } from '#shared/contracts/http/validate.ts'
import { editProduct } from '#shared/usecases/payment-links/edit-product.ts'
import { createProduct, getProduct, listProducts } from '#shared/usecases/payment-links/manage-products.ts'
import { readPage } from '#shared/usecases/requests/list-cursor.ts'
import { once } from '../once.ts'
import { router, workspaceMutation, workspaceQuery } from '../trpc.ts'
import { orderInput, pageInput } from '../wire/money-wire.ts'

const fields = z.strictObject({
  name: boundedText(200),
  price: boundedText(40),
  currency: boundedText(3),
  description: boundedText(500).optional(),
  sku: boundedText(100).optional(),
})

/** A merchant's products at fixed prices. */
export const productsRouter = router({
  list: workspaceQuery('viewer')
    .input(z.object({ ...orderInput, ...pageInput }))
    .output(z.object({ items: z.array(productResource), nextCursor: z.string().nullable() }))
    .query(async ({ ctx, input }) => {
      const { money } = ctx.deps
      const { workspaceId, mode, order } = input
      const scope = { list: 'operator-products', workspaceId, mode, filters: { order } }
      const { page, meta } = await readPage(money, scope, input, (place) =>
        listProducts(money, { workspaceId, mode, order, ...place }),
      )
      return { items: [...page], nextCursor: meta.next_cursor }
    }),

  update: workspaceMutation('support', { worksWhile: 'active' })
    .input(
      z.object({
        id: z.uuid(),
        /** `updated_at` of the product as the person saw it, in milliseconds. */
        version: z.int().min(0),
        /** All of them: what is left out is removed. */
        product: fields.pick({ name: true, price: true, description: true }),
      }),
    )
    .output(productResource)
    .mutation(async ({ ctx, input }) => {
      const { money } = ctx.deps
      const { workspaceId, mode, id: productId, version, opId, reason = null, product } = input
      if (ctx.operation.isDone) return await getProduct(money, { workspaceId, mode, productId })
      const about = { workspaceId, mode, productId, version, opId, reason, actor: ctx.actor }
      return await editProduct(money, { ...about, fields: product })
    }),

  create: workspaceMutation('support', { worksWhile: 'active' })
    .input(z.object({ product: fields }))
    .output(productResource)
    .mutation(async ({ ctx, input }) => {
      const body = validate(productBody, input.product)
      return await once(ctx, { ...input, path: '/products', request: input.product }, async (productId) =>
        createProduct(ctx.deps.money, {
          workspaceId: input.workspaceId,
          mode: input.mode,
          body,
          productId,
          attribution: { by: ctx.actor },
        }),
      )
    }),
})
