import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Invoice } from '#clients/typescript/src/main.ts'
import type { Plan } from '#test/chaos/ledger.ts'
import type { Merchant } from './merchants.ts'
import { ASSET, type Pay, transfersOf } from './payers.ts'
import { fetchJson, post, type Requests } from './requests.ts'

export interface LoadOptions {
  readonly merchants: readonly Merchant[]
  readonly requests: Requests
  readonly pay: Pay
  readonly checkoutUrl: string
  readonly adminUrl: string
  /** Invoices a second, over all merchants. */
  readonly perSecond: number
  /** From 0 to below 1. */
  readonly random: () => number
}

/** Merchants, payers and operators at work. */
export interface Load {
  /** Begins nothing more; resolves when everything that was begun is answered and paid. */
  finish(): Promise<void>
}

const DECK: readonly Plan[] = ['exact', 'exact', 'exact', 'exact', 'parts', 'parts', 'over', 'cancel', 'none', 'exact']
/** Longer than any drill. */
const EXPIRES_IN_S = 86_400
const READ_EVERY_MS = 1_000

/** Starts an even load: creates, repetitions, reads and lists over the API, choices at the checkout, payments, dashboards. */
export function startLoad(options: LoadOptions): Load {
  const { merchants, perSecond, requests } = options
  const work = new Set<Promise<void>>()
  let count = 0
  const begin = (one: Promise<void>): void => {
    const kept: Promise<void> = one
      .catch((error: unknown) => void requests.send('the load itself', () => Promise.reject(error)))
      .finally(() => work.delete(kept))
    work.add(kept)
  }
  const creates = setInterval(() => {
    count += 1
    const merchant = merchants[count % merchants.length]
    const plan = DECK[count % DECK.length] ?? 'exact'
    if (merchant !== undefined) begin(serve(options, merchant, { key: `load-${count}`, plan }))
  }, 1_000 / perSecond)
  const browsers = merchants.map((merchant) => logIn(options, merchant))
  const reads = setInterval(() => {
    for (const [index, merchant] of merchants.entries()) {
      begin(readLists(options, merchant))
      begin(readDashboard(options, merchant, browsers[index]))
    }
  }, READ_EVERY_MS)
  return {
    finish: async () => {
      clearInterval(creates)
      clearInterval(reads)
      while (work.size > 0) await Promise.all(work)
    },
  }
}

/** Creates an invoice, with its asset or without one; enters it in the book. Null when a request failed. */
export async function openInvoice(
  { requests, checkoutUrl, random }: Pick<LoadOptions, 'requests' | 'checkoutUrl' | 'random'>,
  merchant: Merchant,
  { key, plan, atCheckout }: { readonly key: string; readonly plan: Plan; readonly atCheckout: boolean },
): Promise<Invoice | null> {
  const { ledger, client } = merchant
  const amount = (1 + Math.floor(random() * 10_000) / 100).toFixed(2)
  ledger.write({ kind: 'intent', key, amount, plan, at: Date.now() })
  const body = {
    amount,
    currency: 'USD',
    expires_in: EXPIRES_IN_S,
    ...(!atCheckout && ({ asset: ASSET } as const)),
  } as const
  const create = () => client().invoices.create(body, { idempotencyKey: key })
  const created = await requests.send('POST /invoices', create)
  if (created === null) return null
  if (random() < 0.25)
    await requests.send('POST /invoices, repeated under its key', async () => {
      const { id } = await create()
      if (id !== created.id) throw new Error(`${created.id} was created, its key now answers ${id}`)
    })
  const page = `${checkoutUrl}/api/i/${created.id}`
  const headers = payerHeaders(random)
  await requests.send('checkout: invoice', () => fetchJson(page, { headers }))
  if (atCheckout) {
    await requests.send('checkout: assets', () => fetchJson(`${page}/assets`, { headers }))
    await requests.send('checkout: choice of asset', () =>
      post(`${page}/asset`, { asset: ASSET, actionId: randomUUID() }, headers),
    )
  }
  const invoice = await requests.send('GET /invoices/:id', () => client().invoices.get(created.id))
  if (invoice?.crypto == null) return null
  const dueBase = invoice.crypto.amount_base_units
  ledger.write({ kind: 'created', key, invoiceId: invoice.id, dueBase, at: Date.now() })
  return invoice
}

/** One of many payers, as the proxy in front of the checkout names them. */
function payerHeaders(random: () => number): Readonly<Record<string, string>> {
  const part = (): number => 1 + Math.floor(random() * 254)
  return { 'x-forwarded-for': `198.51.${part()}.${part()}` }
}

/** Cancels an invoice and enters it in the book. */
export async function cancel({ requests }: Pick<LoadOptions, 'requests'>, { client, ledger }: Merchant, id: string) {
  const cancelled = await requests.send('POST /invoices/:id/cancel', () => client().invoices.cancel(id))
  if (cancelled !== null) ledger.write({ kind: 'cancelled', invoiceId: id, at: Date.now() })
}

async function serve(
  options: LoadOptions,
  merchant: Merchant,
  { key, plan }: { readonly key: string; readonly plan: Plan },
): Promise<void> {
  const { random, pay, requests } = options
  const invoice = await openInvoice(options, merchant, { key, plan, atCheckout: random() < 0.3 })
  if (invoice === null || invoice.crypto === null) return
  const { address, amount_base_units: due } = invoice.crypto
  await delay(random() * 4_000)
  if (plan === 'cancel') await cancel(options, merchant, invoice.id)
  for (const amountBase of transfersOf(plan, BigInt(due))) {
    await pay(merchant.ledger, invoice.id, address, amountBase)
    await delay(random() * 4_000)
  }
  await requests.send('GET /invoices/:id', () => merchant.client().invoices.get(invoice.id))
}

async function readLists({ requests }: LoadOptions, { client }: Merchant): Promise<void> {
  await requests.send('GET /invoices', () => client().invoices.list({ limit: 20 }).page())
  await requests.send('GET /payments', () => client().payments.list({ limit: 20 }).page())
  await requests.send('GET /rates', () => client().rates.list().page())
}

interface Browser {
  readonly cookie: string
}

/** Logs the merchant's owner in to the dashboard. The session goes on through the whole drill. */
async function logIn({ adminUrl, requests }: LoadOptions, { owner }: Merchant): Promise<Browser | null> {
  return await requests.send('dashboard: log-in', async () => {
    const response = await fetch(`${adminUrl}/trpc/auth.logIn`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: adminUrl },
      body: JSON.stringify({ email: owner.email, password: owner.password }),
      signal: AbortSignal.timeout(30_000),
    })
    if (!response.ok) throw new Error(`answered ${response.status} ${await response.text()}`)
    return {
      cookie: response.headers
        .getSetCookie()
        .map((line) => line.split(';')[0])
        .join('; '),
    }
  })
}

async function readDashboard(
  { adminUrl, requests }: LoadOptions,
  { workspaceId }: Merchant,
  opening: Promise<Browser | null> | undefined,
): Promise<void> {
  const browser = await opening
  if (browser == null) return
  const headers = { cookie: browser.cookie, origin: adminUrl }
  const at = { workspaceId, mode: 'test' }
  await requests.send('dashboard: workspace', () => post(`${adminUrl}/trpc/workspace.get`, at, headers))
}
