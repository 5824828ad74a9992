import type { Mutant } from './mutant.ts'

/** The edge: idempotency, acknowledgement, keys and prices. */
export const EDGE_MUTANTS: readonly Mutant[] = [
  {
    name: 'acknowledged-before-stored',
    file: 'shared/usecases/invoices/create-invoice.ts',
    find: 'const result = await deps.invoices.insert({\n      ...{ terms, state, outbox, idempotency: input.idempotency, opId: null },\n      ...(input.link?.use !== undefined && { linkUse: input.link.use }),\n    })',
    replace:
      'deps.invoices.insert({ terms, state, outbox, idempotency: input.idempotency, opId: null }).catch(() => undefined)\n    const result = { inserted: true } as Awaited<ReturnType<typeof deps.invoices.insert>>',
    what: 'A merchant is told of an invoice that may never be stored.',
  },
  {
    name: 'failed-group-acknowledged',
    file: 'shared/db/invoices/grouped-calls.ts',
    find: 'for (const { reject } of batch) reject(error)',
    replace: 'for (const { resolve } of batch) resolve({ inserted: true })',
    what: 'A failed insert of several counts as stored.',
  },
  {
    name: 'lone-insert-acknowledged',
    file: 'shared/db/invoices/invoice-repository.ts',
    find: '        return { inserted: false, conflict: conflictOf(error) }',
    replace:
      '        return (error as { code?: number }).code === 11_000 ? { inserted: false, conflict: conflictOf(error) } : { inserted: true }',
    what: 'A store that does not answer counts as one that stored.',
  },
  {
    name: 'key-without-mode',
    file: 'shared/db/invoices/invoice-mapping.ts',
    find: "  mode,\n  'idem.key': key,",
    replace: "  'idem.key': key,",
    what: 'An idempotency key of test mode answers in live mode.',
  },
  {
    name: 'fingerprint-not-compared',
    file: 'shared/usecases/invoices/create-invoice.ts',
    find: "if (found.idempotency.fingerprint !== guard.fingerprint) throw new PaymeshError('IDEMPOTENCY_MISMATCH')",
    replace: '',
    what: 'Another request under the same key gets the first answer.',
  },
  {
    name: 'key-not-stored',
    file: 'shared/db/invoices/invoice-mapping.ts',
    find: '...(idempotency !== null && { idem: INVOICES.toFields({ idem: idempotency }).idem }),',
    replace: '',
    what: 'A retry makes a second invoice.',
  },
  {
    name: 'replay-shows-the-present',
    file: 'shared/usecases/invoices/create-invoice.ts',
    find: 'if (entry !== undefined) return JSON.stringify(presentInvoice(invoice.terms, entry.snapshot, deps.urls))',
    replace:
      "const { snapshotInvoice } = await import('./present-invoice.ts')\n  if (entry !== undefined || invoice.state.version > 0) return JSON.stringify(presentInvoice(invoice.terms, snapshotInvoice(deps.catalog, invoice.state), deps.urls))",
    what: 'A replay shows the invoice as it is now.',
    seed: '1',
  },
  {
    name: 'operations-without-identity',
    file: 'shared/usecases/requests/run-once.ts',
    find: 'opId: operationId(scope, resourceId) })',
    replace: 'opId: deps.random.uuid() })',
    what: 'A retry after a lost answer does not find its work done.',
  },
  {
    name: 'last-ops-not-kept',
    file: 'shared/db/invoices/invoice-repository.ts',
    find: '...(op !== null && { lastOps: { $each: [op], $slice: -LAST_OPS } }),',
    replace: '',
    what: 'A cancellation whose answer was lost is refused when it is repeated.',
  },
  {
    name: 'revoked-key-from-a-cache',
    file: 'shared/usecases/workspaces/api-key-cache.ts',
    find: 'const keyHolds = isCurrent(key.epoch, keyEpoch, fresh.key)',
    replace: 'const keyHolds = true',
    what: 'A revoked key works until it is forgotten.',
  },
  {
    name: 'suspension-from-a-cache',
    file: 'shared/usecases/workspaces/api-key-cache.ts',
    find: 'const workspaceHolds = isCurrent(workspace.epoch, workspaceEpoch, fresh.workspace)',
    replace: 'const workspaceHolds = true',
    what: 'A suspended workspace works until it is forgotten.',
  },
  {
    name: 'stale-rate-used',
    file: 'shared/usecases/rates/read-rate.ts',
    find: 'if (now >= expiresAt) throw',
    replace: 'if (now < 0) throw',
    what: 'An old price is promised.',
  },
  {
    name: 'one-source-is-enough',
    file: 'shared/domain/rates/crypto-board.ts',
    find: 'export const COIN_QUORUM = 3',
    replace: 'export const COIN_QUORUM = 1',
    what: 'One exchange alone makes a price.',
  },
  {
    name: 'rounded-down',
    file: 'shared/domain/money/money.ts',
    find: 'const displayUnits = (numerator + denominator - 1n) / denominator',
    replace: 'const displayUnits = numerator / denominator',
    what: 'The amount due is rounded to the disadvantage of the merchant.',
  },
]
