import { WEBHOOK_ENDPOINTS } from '#shared/db/endpoints/endpoint-model.ts'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { PAYMENT_LINKS } from '#shared/db/payment-links/payment-link-model.ts'
import { PRODUCTS } from '#shared/db/payment-links/product-model.ts'
import { PAYMENTS } from '#shared/db/payments/payment-model.ts'
import type { ApiAnswer, TestApi } from '#test/support/api.ts'
import type { TestStores } from '#test/support/stores.ts'
import { makeResource, send, UNKNOWN_ID } from './contract-stage.ts'
import { operation } from './operations.ts'

/** A POST in one of its forms, for tests of idempotency. */
export interface KeyedOperation {
  readonly name: string
  /** Name of the operation in the specification. */
  readonly of: string
  /** What it sends; absent for the valid body of the operation. */
  readonly body?: Readonly<Record<string, unknown>>
}

const SIMULATE = 'POST /test/invoices/{id}/simulate'
const INVOICE = { amount: '25.00', currency: 'USD' }

/** Every POST; those with several ways to work in each of them. */
export const KEYED_OPERATIONS: readonly KeyedOperation[] = [
  { name: 'an invoice', of: 'POST /invoices' },
  { name: 'an invoice with an asset', of: 'POST /invoices', body: { ...INVOICE, asset: 'eth_base' } },
  { name: 'a cancellation', of: 'POST /invoices/{id}/cancel' },
  { name: 'a payment link', of: 'POST /payment-links' },
  { name: 'the end of a payment link', of: 'POST /payment-links/{id}/deactivate' },
  { name: 'a product', of: 'POST /products' },
  {
    name: 'a product with a sku',
    of: 'POST /products',
    body: { name: 'Mug', price: '25.00', currency: 'USD', sku: 'ONE' },
  },
  { name: 'an estimate', of: 'POST /estimate' },
  { name: 'a webhook endpoint', of: 'POST /webhook-endpoints' },
  ...['paid', 'partial', 'overpaid', 'expired'].map((scenario) => ({
    name: `a simulation of ${scenario}`,
    of: SIMULATE,
    body: { scenario },
  })),
]

/** A request that can be sent again and again, to any process of the API and with or without an idempotency key. */
export interface KeyedRequest {
  readonly workspaceId: string
  readonly apiKey: string
  sendTo(api: Pick<TestApi, 'call'>, idempotencyKey?: string): Promise<ApiAnswer>
}

/** Makes a workspace with what the operation works on. */
export async function prepareKeyed(api: TestApi, keyed: KeyedOperation): Promise<KeyedRequest> {
  const { id: workspaceId } = await api.newWorkspace()
  const { apiKey } = await api.newKey('test', undefined, workspaceId)
  const here = operation(keyed.of)
  const id = here.resource === undefined ? UNKNOWN_ID : await makeResource(api, here.resource, apiKey)
  const body = keyed.body === undefined ? {} : { body: keyed.body }
  return {
    workspaceId,
    apiKey,
    sendTo: (target, idempotencyKey) => {
      const headers: Record<string, string> = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }
      return send(target, here, { key: apiKey, id, headers, ...body })
    },
  }
}

/** What a workspace holds, in a form that is equal for two workspaces in which the same things happened. */
export async function footprint({ db }: Pick<TestStores, 'db'>, workspaceId: string): Promise<object> {
  const of = { workspaceId }
  const invoices = await db.collection(INVOICES).find(of).toArray()
  const endpoints = await db.collection(WEBHOOK_ENDPOINTS).find(of).toArray()
  return {
    invoices: invoices.map(({ status, version, outbox, claims, ledger }) => ({
      status,
      version,
      claims: claims?.length ?? 0,
      ledger: ledger.length,
      events: outbox.map(({ type, seq }) => `${seq} ${type}`),
    })),
    payments: await db.collection(PAYMENTS).countDocuments(of),
    products: await db.collection(PRODUCTS).countDocuments(of),
    links: (await db.collection(PAYMENT_LINKS).find(of).toArray()).map(({ status }) => status),
    secrets: endpoints.map(({ sealedSecrets }) => sealedSecrets.length),
  }
}

/** What an unkeyed request of the operation does to a workspace, and how it is answered. */
export async function oneEffect(stores: Pick<TestStores, 'db'>, api: TestApi, keyed: KeyedOperation) {
  const request = await prepareKeyed(api, keyed)
  const answer = await request.sendTo(api)
  return { status: answer.status, footprint: await footprint(stores, request.workspaceId) }
}
