import type { ServiceParts } from '#services/context.ts'
import { createLookup } from '#shared/db/invoices/grouped-calls.ts'
import type { KeyHasher } from '#shared/ports/secrets.ts'
import { createInvoiceNumbers } from '#shared/usecases/invoices/invoice-numbers.ts'
import { createQuotes } from '#shared/usecases/quotes/create-quotes.ts'
import { createKeyRing, createKeyUse } from '#shared/usecases/workspaces/api-key-cache.ts'
import { ownersOfWorkspace } from '#shared/usecases/workspaces/owners-of-workspace.ts'
import type { ApiDeps } from './api-deps.ts'

type Settings = 'urls' | 'checkAnswers' | 'trustedProxies' | 'publicUrl' | 'pagesDir'

/** The parts of the `api` process. */
export interface ApiParts
  extends ServiceParts,
    Pick<ApiDeps, Settings | 'catalog' | 'limiter' | 'secretBox' | 'listCursor' | 'urlGuard'> {
  readonly hasher: KeyHasher
}

/** Wires the API. Holds only caches; `createApp` or `executeRoute` serves it. */
export function assembleApi(parts: ApiParts): ApiDeps {
  const { idempotency, apiKeys, workspaces, groupedInvoices: invoices } = parts
  return {
    ...parts,
    ...createQuotes(parts),
    invoices,
    ownersOf: (workspaceId) => ownersOfWorkspace(parts, workspaceId),
    numbers: createInvoiceNumbers({ ...parts, invoices }),
    findRefusal: createLookup('id', idempotency.findMany),
    keyRing: createKeyRing({
      ...parts,
      keys: { findByHash: createLookup('hash', apiKeys.findManyByHash) },
      workspaces: { findById: createLookup('id', workspaces.findMany) },
    }),
    keyUse: createKeyUse({ ...parts, keys: apiKeys }),
  }
}
