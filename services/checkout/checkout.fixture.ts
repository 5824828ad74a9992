import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { NetworkSettings } from '#shared/chains/definitions/chain.ts'
import { createPaymentLinkRepository } from '#shared/db/payment-links/payment-link-repository.ts'
import { createProductRepository } from '#shared/db/payment-links/product-repository.ts'
import type { LinkAmount } from '#shared/ports/payment-links.ts'
import type { TokenBuckets } from '#shared/queues/token-bucket.ts'
import { viewInvoice } from '#shared/usecases/invoices/view-invoice.ts'
import { createPaymentLink } from '#shared/usecases/payment-links/manage-payment-links.ts'
import { type Engine, openEngine } from '#test/support/engine.ts'
import { serviceContext } from '#test/support/service-context.ts'
import { makeStoreFolder } from '#test/support/store-folder.ts'
import type { TestStores } from '#test/support/stores.ts'
import { createApp } from './app.ts'
import { assembleCheckout } from './assemble.ts'
import type { CheckoutDeps } from './checkout-deps.ts'
import { createLiveFeed } from './live-feed.ts'
import { createLiveStreams } from './live-stream.ts'
import { openCheckoutParts } from './open-checkout-parts.ts'

/** A response to a payer's browser. */
export interface Reply {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: tests check any response
  readonly body: any
}

/** A checkout on real stores, with an engine behind it that publishes rates and watches addresses. */
export interface CheckoutStage {
  readonly engine: Engine
  readonly deps: CheckoutDeps
  readonly url: string
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Reply>
  /** Every test is a separate payer: limits count addresses. */
  post(path: string, body: unknown, payer?: string, headers?: Readonly<Record<string, string>>): Promise<Reply>
  /** A payment link, with a number of uses if one is given. */
  link(amount: LinkAmount, usesMax?: number): Promise<string>
  close(): Promise<void>
}

const ETHEREUM = {
  ethereum: { rpcUrls: ['http://127.0.0.1:1'], chainId: 31337, confirmations: 3, contracts: {} },
}

/** Parts that a test replaces. */
interface StageOptions {
  /** Default: one, which is what `payer` of `post` needs. */
  readonly trustedProxies?: number
  /** Default: buckets on Redis, filled by its clock. */
  readonly buckets?: TokenBuckets
  /** Default: test ethereum, whose node does not answer. */
  readonly nodes?: NetworkSettings['test']
  /** Where the built pages are; default: nowhere, so that only the API answers. */
  readonly pagesDir?: string
}

/** A folder of built pages, as small as the server takes. */
export function makePages(): string {
  const pagesDir = makeStoreFolder('paymesh-plain')
  mkdirSync(join(pagesDir, 'checkout/assets'), { recursive: true })
  writeFileSync(
    join(pagesDir, 'checkout/index.html'),
    '<!doctype html><html lang="en"><head><link rel="stylesheet" crossorigin href="/assets/x.css"></head><body><noscript>needs</noscript></body></html>',
  )
  return pagesDir
}

/** Opens the stage; call it in a hook of a file that uses `useStores`. */
export async function openCheckout(
  stores: TestStores,
  { trustedProxies = 1, buckets, nodes = ETHEREUM, pagesDir }: StageOptions = {},
): Promise<CheckoutStage> {
  const engine = await openEngine(stores, nodes)
  const env = {
    PAYMESH_NETWORKS: JSON.stringify({ live: {}, test: nodes }),
    PAYMESH_TRUSTED_PROXIES: String(trustedProxies),
    ...(pagesDir !== undefined && { PAYMESH_PAGES_DIR: pagesDir }),
  }
  const context = { ...serviceContext(stores, env), clock: engine.deps.clock }
  const parts = { ...openCheckoutParts(context), ...(buckets !== undefined && { buckets }) }
  const deps = assembleCheckout({ ...parts, notifier: { notify: () => undefined } })
  const feed = createLiveFeed({ ...deps, view: (id) => viewInvoice(deps, id), pollEveryMs: 50 })
  const streams = createLiveStreams({ ...deps, feed })
  const server: Server = createServer(createApp(deps, streams))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const paymentLinks = createPaymentLinkRepository(stores.db)
  const products = createProductRepository(stores.db)

  const reply = async (response: Response): Promise<Reply> => {
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.includes('json') === true
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text }
  }
  return {
    engine,
    deps,
    url,
    get: async (path, headers = {}) => reply(await fetch(url + path, { headers })),
    post: async (path, body, payer = '198.51.100.1', headers = {}) =>
      reply(
        await fetch(url + path, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json', 'X-Forwarded-For': payer, ...headers },
          body: JSON.stringify(body),
        }),
      ),
    link: async (amount, usesMax) => {
      const linkId = stores.runtime.random.uuid()
      const body = { kind: 'own', title: 'Workshop', description: null, currency: 'USD', amount } as const
      const manage = { ...deps, paymentLinks, products, urls: { checkoutBaseUrl: url } }
      await createPaymentLink(manage, {
        workspace: engine.workspace,
        mode: 'test',
        body,
        linkId,
        ...(usesMax !== undefined && { limits: { usesMax } }),
      })
      return linkId
    },
    async close() {
      feed.close()
      streams.close()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await deps.nodes.close()
    },
  }
}
