import mongoose from 'mongoose'
import { createAuditChainRepository } from '#shared/db/audit/audit-chain-repository.ts'
import { createAuditRepository } from '#shared/db/audit/audit-repository.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { createDeliveryLookups } from '#shared/db/deliveries/delivery-lookups.ts'
import { createDeliveryRepository } from '#shared/db/deliveries/delivery-repository.ts'
import { createEndpointOperations, createEndpointRepository } from '#shared/db/deliveries/endpoint-repository.ts'
import { createRecoveryRepository } from '#shared/db/deliveries/recovery-repository.ts'
import { createEventRepository } from '#shared/db/events/event-repository.ts'
import { createExceptionRepository } from '#shared/db/exceptions/exception-repository.ts'
import { createLeaseRepository } from '#shared/db/installation/lease-repository.ts'
import { createGroupedFind, createGroupedInsert } from '#shared/db/invoices/grouped-calls.ts'
import { createInvoiceCounts } from '#shared/db/invoices/invoice-counts.ts'
import { createInvoiceRepository } from '#shared/db/invoices/invoice-repository.ts'
import { createMailQueue } from '#shared/db/mails/mail-queue.ts'
import { createMailRepository } from '#shared/db/mails/mail-repository.ts'
import { createPaymentLinkRepository } from '#shared/db/payment-links/payment-link-repository.ts'
import { createProductRepository } from '#shared/db/payment-links/product-repository.ts'
import { createPaymentRepository } from '#shared/db/payments/payment-repository.ts'
import { createRateRepository } from '#shared/db/rates/rate-repository.ts'
import { createIdempotencyRepository } from '#shared/db/requests/idempotency-repository.ts'
import { createChainCommandRepository } from '#shared/db/scanning/chain-command-repository.ts'
import { createCoinBalanceRepository } from '#shared/db/scanning/coin-balance-repository.ts'
import { createCursorRepository } from '#shared/db/scanning/cursor-repository.ts'
import { createNodeUsageRepository } from '#shared/db/scanning/node-usage-repository.ts'
import { MODELS } from '#shared/db/schema/models.ts'
import { createWalletRepository } from '#shared/db/wallets/wallet-repository.ts'
import { createWatchPackRepository } from '#shared/db/wallets/watch-pack-repository.ts'
import { createApiKeyRepository } from '#shared/db/workspaces/api-key-repository.ts'
import { createWorkspaceOperations } from '#shared/db/workspaces/workspace-operations.ts'
import { createWorkspaceRepository } from '#shared/db/workspaces/workspace-repository.ts'
import { isDocument } from './bson-values.ts'

/** Every repository over one database, and what was asked of them. */
export interface Stage {
  readonly on: Repositories
  /** Every call with its answer or its error, in order and comparable between stores. */
  readonly calls: readonly unknown[]
  /** All documents of all collections that have some, comparable between stores. */
  documents(): Promise<Readonly<Record<string, unknown>>>
}

/** What `migrate` notes in a real store; a simulated one begins without it. */
const MARKS_OF_MIGRATE = ['migrations', 'schema-version', 'schema-readable-by']
const NOT_OF_MIGRATE = { _id: { $nin: MARKS_OF_MIGRATE as never[] } }

/** The repositories of a stage by the name that cases use. */
export type Repositories = ReturnType<typeof createRepositories>

/** Opens a stage. Ids are counted, so that two stages that are asked the same have the same ones. */
export function openStage(db: Database): Stage {
  const calls: unknown[] = []
  const on = createRepositories(db)
  const watched = Object.entries(on).map(([name, repository]) => [name, watch(name, repository, calls)])
  return {
    on: Object.fromEntries(watched) as Repositories,
    calls,
    documents: async () => {
      const found = await Promise.all(
        MODELS.map(
          async (model) =>
            [model.name, await db.collection(model).find(NOT_OF_MIGRATE).sort({ _id: 1 }).toArray()] as const,
        ),
      )
      return comparable(Object.fromEntries(found.filter(([, rows]) => rows.length > 0))) as Record<string, unknown>
    },
  }
}

function createRepositories(db: Database) {
  let made = 0
  const uuid = (): string => `00000000-0000-7000-8000-${String(++made).padStart(12, '0')}`
  const invoices = createInvoiceRepository(db)
  return {
    invoices,
    counts: createInvoiceCounts(db),
    grouped: { insert: createGroupedInsert(db, invoices.insert), find: createGroupedFind(db) },
    payments: createPaymentRepository(db, { uuid, bytes: (length) => new Uint8Array(length) }),
    deliveries: createDeliveryRepository(db),
    endpoints: createEndpointRepository(db),
    events: createEventRepository(db),
    exceptions: createExceptionRepository(db),
    mails: createMailRepository(db),
    mailQueue: createMailQueue(db),
    operations: createEndpointOperations(db),
    lookups: createDeliveryLookups(db),
    recoveries: createRecoveryRepository(db),
    chain: createAuditChainRepository(db),
    balances: createCoinBalanceRepository(db),
    usage: createNodeUsageRepository(db),
    workspaces: createWorkspaceRepository(db),
    keys: createApiKeyRepository(db),
    workspaceAdmin: createWorkspaceOperations(db),
    idempotency: createIdempotencyRepository(db),
    wallets: createWalletRepository(db),
    packs: createWatchPackRepository(db),
    cursors: createCursorRepository(db),
    leases: createLeaseRepository(db),
    rates: createRateRepository(db),
    products: createProductRepository(db),
    links: createPaymentLinkRepository(db),
    commands: createChainCommandRepository(db),
    audit: createAuditRepository(db),
  }
}

/** Questions whose port promises no order. */
const UNORDERED = new Set([
  ...['invoices.findByClaims', 'invoices.findByReferences', 'payments.recordObservations'],
  'invoices.watchedMethods',
  ...['payments.dueForConfirmation', 'payments.confirmThrough', 'payments.unconfirmed', 'payments.endUnconfirmed'],
  ...['payments.orphanAbove', 'payments.orphanMissing', 'payments.listInBlocks', 'endpoints.listOf'],
  ...['workspaces.findMany', 'keys.findManyByHash', 'idempotency.findMany', 'wallets.findAddresses'],
  ...[
    'wallets.unmarkedWatches',
    'wallets.workspacesUsing',
    'deliveries.heldEndpoints',
    'lookups.ofEvents',
    'balances.find',
    'usage.since',
  ],
])

function watch<T extends object>(name: string, repository: T, calls: unknown[]): T {
  const watched = Object.entries(repository).map(([method, call]) => {
    const label = `${name}.${method}`
    const recorded = async (...given: unknown[]): Promise<unknown> => {
      // Its place is that of the question: answers to questions of one moment come in any order.
      const place = calls.push([label]) - 1
      try {
        const answer: unknown = await call(...given)
        const shown = comparable(answer)
        calls[place] = [label, UNORDERED.has(label) && Array.isArray(shown) ? sorted(shown) : shown]
        return answer
      } catch (error) {
        calls[place] = [label, 'threw', error instanceof Error ? error.name : String(error)]
        throw error
      }
    }
    return [method, recorded]
  })
  return Object.fromEntries(watched) as T
}

/** Order by text, for answers that have none of their own. */
export const sorted = (rows: readonly unknown[]): readonly unknown[] =>
  [...rows].sort((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1))

const NEAR_MS = 25 * 60_000

/** Times that a store read from its own clock differ between stores: they become "minutes from now". Cases use none so near. */
function relative(at: number): string | null {
  const fromNow = at - Date.now()
  return Math.abs(fromNow) < NEAR_MS ? `now+${Math.round(fromNow / 60_000)}min` : null
}

/** A value as JSON that two stores can agree on; the order of fields is kept. */
export function comparable(value: unknown): unknown {
  if (value === undefined) return 'undefined'
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value === 'number') return relative(value) ?? value
  if (value instanceof Date) return relative(value.getTime()) ?? `date ${value.toISOString()}`
  if (value instanceof mongoose.mongo.Binary) return `binary ${value.sub_type} ${value.toString('hex')}`
  if (value instanceof Uint8Array) return `bytes ${Buffer.from(value).toString('hex')}`
  if (value instanceof Set) return sorted([...value].map(comparable))
  if (value instanceof Map) return sorted([...value].map(comparable))
  if (Array.isArray(value)) return value.map(comparable)
  if (!isDocument(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, comparable(field)]))
}
