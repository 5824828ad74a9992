import type { Scope } from '#shared/domain/enumerations.ts'

/** What an `{id}` in a path names. */
export type ResourceKind = 'invoices' | 'payment-links' | 'products' | 'webhook-endpoints'

/** One row of the interface specification, §4. */
export interface Operation {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** With `{id}` as the specification writes it. */
  readonly path: string
  readonly scope: Scope
  readonly success: 200 | 201
  /** A valid body; absent for operations that take none. */
  readonly body?: Readonly<Record<string, unknown>>
  readonly resource?: ResourceKind
  /** A restricted workspace may not do it (§5.5). */
  readonly restricted?: true
  /** Test keys only (§5.6). */
  readonly testOnly?: true
}

const FIXED = { amount: '25.00', currency: 'USD' }

/**
 * The operations, written down from the specification and not from the code, so that the two can be compared. Tests run
 * over this list as data.
 */
export const OPERATIONS: readonly Operation[] = [
  { method: 'GET', path: '/invoices', scope: 'invoices:read', success: 200 },
  { method: 'POST', path: '/invoices', scope: 'invoices:write', success: 201, body: FIXED, restricted: true },
  { method: 'GET', path: '/invoices/{id}', scope: 'invoices:read', success: 200, resource: 'invoices' },
  { method: 'POST', path: '/invoices/{id}/cancel', scope: 'invoices:write', success: 200, resource: 'invoices' },
  { method: 'GET', path: '/payment-links', scope: 'links:read', success: 200 },
  {
    method: 'POST',
    path: '/payment-links',
    scope: 'links:write',
    success: 201,
    body: { title: 'Mug', ...FIXED },
    restricted: true,
  },
  { method: 'GET', path: '/payment-links/{id}', scope: 'links:read', success: 200, resource: 'payment-links' },
  {
    method: 'POST',
    path: '/payment-links/{id}/deactivate',
    scope: 'links:write',
    success: 200,
    resource: 'payment-links',
  },
  { method: 'GET', path: '/products', scope: 'products:read', success: 200 },
  {
    method: 'POST',
    path: '/products',
    scope: 'products:write',
    success: 201,
    body: { name: 'Mug', price: '25.00', currency: 'USD' },
    restricted: true,
  },
  { method: 'GET', path: '/products/{id}', scope: 'products:read', success: 200, resource: 'products' },
  { method: 'GET', path: '/payments', scope: 'payments:read', success: 200 },
  { method: 'GET', path: '/currencies', scope: 'rates:read', success: 200 },
  { method: 'GET', path: '/rates', scope: 'rates:read', success: 200 },
  { method: 'POST', path: '/estimate', scope: 'rates:read', success: 200, body: { ...FIXED, asset: 'btc_bitcoin' } },
  { method: 'GET', path: '/webhook-endpoints', scope: 'webhooks:manage', success: 200 },
  {
    method: 'POST',
    path: '/webhook-endpoints',
    scope: 'webhooks:manage',
    success: 201,
    // An address literal needs no name look-up.
    body: { url: 'https://1.1.1.1/hook', events: ['*'] },
  },
  {
    method: 'DELETE',
    path: '/webhook-endpoints/{id}',
    scope: 'webhooks:manage',
    success: 200,
    resource: 'webhook-endpoints',
  },
  {
    method: 'POST',
    path: '/test/invoices/{id}/simulate',
    scope: 'invoices:write',
    success: 200,
    body: { scenario: 'paid' },
    resource: 'invoices',
    testOnly: true,
  },
]

/** The operations under test names: `['POST /invoices', operation]`. */
export const NAMED_OPERATIONS = OPERATIONS.map((operation) => [nameOf(operation), operation] as const)

/** `POST /invoices`: how tests name an operation. */
export function nameOf({ method, path }: Pick<Operation, 'method' | 'path'>): string {
  return `${method} ${path}`
}

/** The operation of that name; throws for a name that the specification does not have. */
export function operation(name: string): Operation {
  const found = OPERATIONS.find((candidate) => nameOf(candidate) === name)
  if (found === undefined) throw new Error(`no operation is called ${name}`)
  return found
}
