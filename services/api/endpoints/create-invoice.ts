import { invoiceCreateBody } from '#shared/contracts/http/invoice-create.ts'
import { noQuery } from '#shared/contracts/http/list-query.ts'
import { validate } from '#shared/contracts/http/validate.ts'
import { createInvoice } from '#shared/usecases/create-invoice.ts'
import { createInvoiceOnce, createInvoiceUnkeyed } from '#shared/usecases/create-invoice-once.ts'
import type { InvoiceIdempotency } from '#shared/usecases/ports/invoices.ts'
import type { ApiDeps } from '../api-deps.ts'
import { requireUnrestricted } from '../middleware/execute.ts'
import { parseJson } from '../middleware/read-body.ts'
import type { Handler, RequestContext } from '../route.ts'

/** `POST /invoices`: 201 with the invoice; its idempotency key lives in the invoice itself. */
export function createInvoiceEndpoint(deps: ApiDeps): Handler {
  const createFrom = (context: RequestContext, idempotency: InvoiceIdempotency | null) => {
    requireUnrestricted(context)
    validate(noQuery, context.query)
    const body = validate(invoiceCreateBody[context.mode], parseJson(context.rawBody))
    const { workspace, mode } = context
    return createInvoice(deps, { workspace, mode, body, source: 'api', idempotency })
  }
  return (context) => {
    const { once, requestId, workspace, mode } = context
    if (once === null) return createInvoiceUnkeyed(deps, async () => createFrom(context, null), requestId)
    const { key, fingerprint, scope, busy } = once
    const guard = { key, fingerprint, requestId, at: deps.clock.now() }
    const create = async () => createFrom(context, guard)
    return createInvoiceOnce(deps, { workspaceId: workspace.id, mode, scope, guard, busy, create })
  }
}
