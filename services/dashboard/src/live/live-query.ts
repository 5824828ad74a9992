/** A kind of change from the server. */
export type LiveKind = 'invoice' | 'payment' | 'exception' | 'delivery' | 'endpoint' | 'all' | 'none'

const ROUTERS: Readonly<Record<Exclude<LiveKind, 'all'>, readonly string[]>> = {
  invoice: ['invoices', 'payments', 'paymentLinks', 'exceptions', 'overview'],
  payment: ['payments', 'invoices', 'diagnostics'],
  exception: ['exceptions', 'invoices', 'overview'],
  delivery: ['deliveries', 'endpoints', 'invoices', 'overview'],
  endpoint: ['endpoints', 'overview'],
  none: [],
}

/** Routers whose responses may have changed; null = all of them. */
export function routersOf(kind: LiveKind): readonly string[] | null {
  return kind === 'all' ? null : ROUTERS[kind]
}

/** The router that a query uses; empty for queries that do not call the server. */
export function routerOf(queryKey: readonly unknown[]): string {
  const [path] = queryKey
  const [router] = Array.isArray(path) ? path : []
  return typeof router === 'string' ? router : ''
}
