import type { FetchLike } from './fetch-text.ts'
import { createInvoices, type Invoices } from './invoices.ts'
import { createList, type PaymeshList } from './list.ts'
import { createPaymentLinks, type PaymentLinks } from './payment-links.ts'
import { createProducts, type Products } from './products.ts'
import { type CallOptions, createTransport, type TransportSettings, type WriteOptions } from './transport.ts'
import type { Currency, Estimate, EstimateRequest, Payment, PaymentListQuery, Rate, RateListQuery } from './types.ts'
import { createWebhookEndpoints, type WebhookEndpoints } from './webhook-endpoints.ts'

/** Settings of a client. */
export interface PaymeshOptions {
  /** `pm_live_…` or `pm_test_…`; decides the mode. A server-side secret: never ship it to a browser or an app. */
  readonly apiKey: string
  /** Address of the API, including its prefix `/api/v1`. */
  readonly baseUrl: string
  /** Default: the global `fetch`. */
  readonly fetch?: FetchLike
  /** Time limit of one attempt, from connecting to the last byte of the response. Default 30,000. */
  readonly timeoutMs?: number
  /** Attempts after the first, for temporary failures. Default 4; 0 turns retries off. */
  readonly maxRetries?: number
  /** Unix milliseconds; for tests. Default `Date.now`. */
  readonly now?: () => number
  /** From 0 to below 1, randomises the retries; for tests. Default `Math.random`. */
  readonly random?: () => number
  /** Waits before a retry; for tests. Must reject with the signal's reason when that is aborted. */
  readonly sleep?: (ms: number, signal: AbortSignal | undefined) => Promise<void>
}

/**
 * A client for every operation of the API. Each call resolves with the resource or rejects with `PaymeshApiError` or
 * `PaymeshConnectionError`. Transient failures are retried with back-off: network errors, time-outs, 429 (after its
 * `Retry-After`), 5xx and `IDEMPOTENCY_IN_PROGRESS`; every POST carries an idempotency key, so a retry never acts twice.
 */
export interface Paymesh {
  /** Whether its key is a live one. */
  readonly livemode: boolean
  readonly invoices: Invoices
  readonly paymentLinks: PaymentLinks
  readonly products: Products
  /** On-chain transfers to invoices of the key's mode. Scope `payments:read`. */
  readonly payments: { list(query?: PaymentListQuery, options?: CallOptions): PaymeshList<Payment> }
  /** Every supported asset and whether this workspace can receive it now. Scope `rates:read`. */
  readonly currencies: { list(options?: CallOptions): PaymeshList<Currency> }
  /** Current rates in `fiat` (default USD); an asset without a fresh rate is left out. Scope `rates:read`. */
  readonly rates: { list(query?: RateListQuery, options?: CallOptions): PaymeshList<Rate> }
  /** The current price of a fiat amount in an asset; nothing is locked. Scope `rates:read`. */
  estimate(input: EstimateRequest, options?: WriteOptions): Promise<Estimate>
  readonly webhookEndpoints: WebhookEndpoints
}

/** Creates a client. Sends nothing. Throws a `TypeError` for invalid settings. */
export function createPaymesh(options: PaymeshOptions): Paymesh {
  const settings = readSettings(options)
  const transport = createTransport(settings)
  return {
    livemode: LIVE_KEY.test(options.apiKey),
    invoices: createInvoices(transport, settings.now),
    paymentLinks: createPaymentLinks(transport),
    products: createProducts(transport),
    payments: { list: (query, call) => createList(transport, '/payments', query, call) },
    currencies: { list: (call) => createList(transport, '/currencies', undefined, call) },
    rates: { list: (query, call) => createList(transport, '/rates', query, call) },
    estimate: async (body, call) =>
      (await transport<Estimate>({ method: 'POST', path: '/estimate', body, options: call })).data,
    webhookEndpoints: createWebhookEndpoints(transport),
  }
}

const LIVE_KEY = /^[^_]+_live_/

function readSettings(options: PaymeshOptions): TransportSettings {
  const { apiKey, baseUrl, timeoutMs = 30_000, maxRetries = 4 } = options
  // Neither message contains the key.
  if (typeof apiKey !== 'string' || !/^[\x21-\x7e]+$/.test(apiKey)) throw new TypeError('apiKey must be an API key')
  if (typeof baseUrl !== 'string' || !/^https?:\/\/[^?#]+$/.test(baseUrl))
    throw new TypeError('baseUrl must be the http(s) address of the API without a query')
  if (!(timeoutMs > 0 && timeoutMs < 2 ** 31)) throw new TypeError('timeoutMs must be above 0 and below 2^31')
  if (!Number.isInteger(maxRetries) || maxRetries < 0) throw new TypeError('maxRetries must be an integer from 0')
  return {
    apiKey,
    baseUrl: baseUrl.replace(/(?<!\/)\/+$/, ''),
    fetch: options.fetch ?? ((url, init) => fetch(url, init)),
    timeoutMs,
    maxRetries,
    now: options.now ?? Date.now,
    random: options.random ?? Math.random,
    sleep: options.sleep ?? sleep,
  }
}

/** Resolves after `ms`; rejects with the signal's reason when that is aborted first. */
async function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted()
  await new Promise<void>((resolve, reject) => {
    const abort = (): void => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort)
      resolve()
    }, ms)
    signal?.addEventListener('abort', abort, { once: true })
  })
}
