import { PaymeshError } from '#shared/contracts/errors.ts'
import type { ProductBody } from '#shared/contracts/http/product-create.ts'
import type { ProductResource } from '#shared/contracts/http/product-resource.ts'
import { invalid } from '#shared/contracts/http/validate.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import type { Attribution } from '#shared/domain/invoice/invoice-event.ts'
import { formatFiat } from '#shared/domain/money/money.ts'
import type { Product } from '#shared/ports/products.ts'
import type { ProductQuery } from '#shared/ports/workspace-page-query.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { catalogAudit } from './manage-payment-links.ts'

/** Dependencies of managing products. */
export type ManageProductsDeps = Uses<'products' | 'clock'>

/** A validated request for a product. */
export interface CreateProductInput {
  readonly workspaceId: string
  readonly mode: Mode
  readonly body: ProductBody
  /** Pre-allocated, so that a retry after a crash finds the product it created. */
  readonly productId: string
  /** The operator who does it; absent for API calls. */
  readonly attribution?: Attribution
}

/**
 * Adds an active product by one insert. A repetition with the same `productId` returns the product of the first run.
 * Throws `VALIDATION_ERROR` with path `sku` when another product of this workspace and mode has the sku.
 */
export async function createProduct(deps: ManageProductsDeps, input: CreateProductInput): Promise<ProductResource> {
  const { workspaceId, mode, body, productId } = input
  const now = deps.clock.now()
  const product: Product = {
    id: productId,
    workspaceId,
    mode,
    name: body.name,
    description: body.description ?? null,
    price: { minor: body.priceMinor, currency: body.currency },
    sku: body.sku ?? null,
    active: true,
    createdAt: now,
    updatedAt: now,
  }
  const result = await deps.products.insert(
    product,
    catalogAudit('product.created', input.productId, { ...input, at: now }),
  )
  if (result.outcome === 'sku_taken') throw invalid([{ path: 'sku', message: 'another product already has this SKU' }])
  if (result.outcome === 'in_progress') throw new PaymeshError('IDEMPOTENCY_IN_PROGRESS')
  return presentProduct(result.product)
}

/** A page of products, newest first. */
export async function listProducts(
  deps: Pick<ManageProductsDeps, 'products'>,
  query: ProductQuery,
): Promise<readonly ProductResource[]> {
  return (await deps.products.list(query)).map(presentProduct)
}

/** One product. Throws `NOT_FOUND` for an unknown or foreign one. */
export async function getProduct(
  deps: Pick<ManageProductsDeps, 'products'>,
  scope: { readonly workspaceId: string; readonly mode: Mode; readonly productId: string },
): Promise<ProductResource> {
  const product = await deps.products.findInWorkspace(scope.workspaceId, scope.mode, scope.productId)
  if (product === null) throw new PaymeshError('NOT_FOUND')
  return presentProduct(product)
}

function presentProduct(product: Product): ProductResource {
  const { minor, currency } = product.price
  return {
    id: product.id,
    object: 'product',
    livemode: product.mode === 'live',
    name: product.name,
    description: product.description,
    price: formatFiat(minor, currency),
    currency,
    sku: product.sku,
    active: product.active,
    created_at: new Date(product.createdAt).toISOString(),
    updated_at: new Date(product.updatedAt).toISOString(),
  }
}
