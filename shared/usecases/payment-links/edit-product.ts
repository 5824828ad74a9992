import { PaymeshError } from '#shared/contracts/errors.ts'
import { productBody } from '#shared/contracts/http/product-create.ts'
import type { ProductResource } from '#shared/contracts/http/product-resource.ts'
import { validate } from '#shared/contracts/http/validate.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import { formatFiat } from '#shared/domain/money/money.ts'
import { changedFirst } from '#shared/usecases/audit/changed-first.ts'
import type { WorkspaceAction } from '#shared/usecases/audit/operator-action.ts'
import { reasonOf } from '#shared/usecases/requests/begin-operation.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { getProduct } from './manage-products.ts'

/** Dependencies of editing a product. */
export type EditProductDeps = Uses<'products' | 'audits' | 'clock'>

/** An operator's edit of one product. */
export interface EditProductInput extends WorkspaceAction {
  readonly productId: string
  /** `updatedAt` of the product that the operator saw. */
  readonly version: Ms
  /** All fields that may change, as typed; without a description it has none. */
  readonly fields: { readonly name: string; readonly price: string; readonly description?: string | undefined }
}

/**
 * Changes name, description and price of a product, audited in the same write, if it was last changed at `version`, and returns it as
 * stored. Currency and SKU stay, and so do payment links and invoices made from it. Throws `NOT_FOUND` for an unknown or foreign product,
 * `VALIDATION_ERROR` with the field, and `INVALID_STATE` that names who changed it first.
 */
export async function editProduct(deps: EditProductDeps, input: EditProductInput): Promise<ProductResource> {
  const { workspaceId, mode, productId, version, actor } = input
  const product = await deps.products.findInWorkspace(workspaceId, mode, productId)
  if (product === null) throw new PaymeshError('NOT_FOUND')
  const { currency } = product.price
  const given = Object.entries({ ...input.fields, currency }).filter(([, value]) => value !== undefined)
  const { name, description = null, priceMinor } = validate(productBody, Object.fromEntries(given))
  const now = deps.clock.now()
  const detail = { name, price: `${formatFiat(priceMinor, currency)} ${currency}`, ...reasonOf(input) }
  const id = `product-updated:${workspaceId}:${input.opId}`
  const about = { actor, action: 'product.updated' as const, subject: productId, workspaceId, mode }
  const row = { id, at: now, ...about, detail }
  const seen = { workspaceId, mode, id: productId, version }
  // Always greater than the previous version, even if the clock went back.
  const at = Math.max(now, version + 1)
  if (!(await deps.products.update(seen, { name, description, priceMinor }, at, row))) {
    if (!(await deps.audits.isRecorded(id, productId)))
      throw await changedFirst(deps, { subject: productId, thing: 'this product' })
  }
  return await getProduct(deps, { workspaceId, mode, productId })
}
