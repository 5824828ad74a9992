import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createApp } from '#services/checkout/app.ts'
import { assembleCheckout } from '#services/checkout/assemble.ts'
import type { CheckoutStage } from '#services/checkout/checkout.fixture.ts'
import { createLiveFeed } from '#services/checkout/live-feed.ts'
import { createLiveStreams } from '#services/checkout/live-stream.ts'
import { openCheckoutParts } from '#services/checkout/open-checkout-parts.ts'
import { sourceAt, useVisitors } from '#services/checkout/visitors.fixture.ts'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { viewInvoice } from '#shared/usecases/invoices/view-invoice.ts'
import { usesOfOne } from '#shared/usecases/payment-links/pay-link.ts'
import { sampleOf } from '#test/support/depth.ts'
import { serviceContext } from '#test/support/service-context.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
const visitors = useVisitors(stores)
let stage: CheckoutStage
let second: Awaited<ReturnType<typeof openSecond>>
beforeEach(async () => {
  stage = visitors.stage()
  second = await openSecond()
})
afterEach(() => second.close())

/** Another checkout process on the same stores: an app with its own connections, caches and limits. */
async function openSecond() {
  const context = serviceContext(stores, {
    PAYMESH_NETWORKS: JSON.stringify({ live: {}, test: {} }),
    PAYMESH_TRUSTED_PROXIES: '1',
  })
  const deps = assembleCheckout({
    ...openCheckoutParts({ ...context, clock: stage.engine.deps.clock }),
    notifier: { notify: () => undefined },
  })
  const feed = createLiveFeed({ ...deps, view: (id) => viewInvoice(deps, id) })
  const streams = createLiveStreams({ ...deps, feed })
  const server = createServer(createApp(deps, streams))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      feed.close()
      streams.close()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await deps.nodes.close()
    },
  }
}

/** Chooses a coin at one of the two processes. */
async function choose(url: string, invoiceId: string, from: string) {
  const answer = await fetch(`${url}/api/i/${invoiceId}/asset`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Forwarded-For': from },
    body: JSON.stringify({ asset: 'usdt_ethereum', actionId: randomUUID() }),
  })
  const body = (await answer.json()) as { readonly error?: { readonly code: string } }
  return body.error?.code ?? answer.status
}

const holding = () => stores.db.collection(INVOICES).countDocuments({ source: 'link', claims: { $exists: true } })
const POOL = 15
/** Half of the pool is the merchant's, rounded down; one connection has a quarter of the rest. */
const RESERVE = 7
const OF_ONE = 2

// Guarantee: how many processes serve visitors does not move the line: together they never take what the merchant keeps.
it.each(
  sampleOf(
    [
      ['many connections', (index: number) => sourceAt(index), POOL - RESERVE],
      ['one connection', () => sourceAt(1), OF_ONE],
    ],
    1,
  ),
)('%s at two processes at once: the budget holds, and the merchant’s reserve stays', async (_name, from, budget) => {
  await visitors.addPool(POOL)
  const link = await stage.link({ kind: 'fixed', minor: 700n })
  // The limit of posts of one address allows 20 at once.
  const ids = await visitors.linkInvoices(16, link)
  const urls = [stage.url, second.url]
  // Each invoice is asked for at both, so that neither process has the whole of it in memory.
  const requests = ids.flatMap((id, index) => urls.map((url) => [url, id, from(index)] as const))
  const answers = await Promise.all(requests.map((request) => choose(...request)))
  expect(await holding()).toBe(budget)
  expect(answers.filter((answer) => answer === 200).length).toBeGreaterThanOrEqual(budget)
  // Each process again, now that the budget is spent.
  const late = await visitors.linkInvoices(2, link)
  for (const [index, id] of late.entries()) expect(await choose(urls[index] ?? '', id, from(index))).not.toBe(200)
  expect(await holding()).toBe(budget)
  for (let count = 0; count < RESERVE; count += 1) await visitors.openByApi('usdt_ethereum')
})

// Guarantee: nor does it move the share of one connection in the unpaid uses of a link.
it('one connection at two processes at once holds its share of a limited link and no more', async () => {
  const USES = 20
  const link = await stage.link({ kind: 'fixed', minor: 700n }, USES)
  const make = async (url: string, from: string) => {
    const headers = { 'Content-Type': 'application/json', 'X-Forwarded-For': from }
    const body = JSON.stringify({ actionId: randomUUID() })
    return (await fetch(`${url}/api/l/${link}/invoice`, { method: 'POST', headers, body })).status
  }
  const urls = [stage.url, second.url]
  const answers = await Promise.all(Array.from({ length: 16 }, (_, index) => make(urls[index % 2] ?? '', sourceAt(1))))
  expect(answers.filter((status) => status === 200)).toHaveLength(usesOfOne(USES))
  expect(await stores.db.collection(INVOICES).countDocuments({ paymentLinkId: link })).toBe(usesOfOne(USES))
  for (const url of urls) expect(await make(url, sourceAt(2))).toBe(200)
})
