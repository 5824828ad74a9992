import type { PaymentLink } from '#shared/ports/payment-links.ts'
import type { Product } from '#shared/ports/products.ts'
import type { ContractCase } from './contract-case.ts'
import { changeOf, invoiceNamed, PAST } from './contract-samples.ts'

const product = (id: string, overrides: Partial<Product> = {}): Product => ({
  id,
  workspaceId: 'ws-1',
  mode: 'test',
  name: 'Beans',
  description: null,
  price: { minor: 1_250n, currency: 'EUR' },
  sku: null,
  active: true,
  createdAt: PAST,
  updatedAt: PAST,
  ...overrides,
})

const link = (id: string, overrides: Partial<PaymentLink> = {}): PaymentLink => ({
  id,
  workspaceId: 'ws-1',
  mode: 'test',
  status: 'active',
  title: 'Donate',
  description: null,
  currency: 'USD',
  amount: { kind: 'custom', minMinor: 100n, maxMinor: null },
  productId: null,
  usesMax: null,
  expiresAt: null,
  createdAt: PAST,
  updatedAt: PAST,
  deactivatedAt: null,
  ...overrides,
})

const snapshot = (at: number, price = '1') => ({
  at,
  guards: {},
  expected: {},
  sources: {},
  clockOffsetMs: null,
  usdPerSymbol: { BTC: { price, sources: ['one'], oldestAt: PAST } },
  fiatPerUsd: {},
})

const placesOf = (place: string) => ({ places: [place], repeats: 0, quotesUntil: null })

const page = { workspaceId: 'ws-1', mode: 'test' as const, limit: 2, beforeId: null }

/** Products, payment links and rates. */
export const PRODUCT_CASES: readonly ContractCase[] = [
  {
    name: 'a sku is taken in its workspace and mode; products without one do not collide',
    query: async ({ products }) => {
      const made = [
        await products.insert(product('p-1', { sku: 'S' })),
        await products.insert(product('p-2', { sku: 'S' })),
        await products.insert(product('p-1', { sku: 'S', name: 'again' })),
        await products.insert(product('p-3', { sku: 'S', mode: 'live' })),
        await products.insert(product('p-4')),
        await products.insert(product('p-5')),
      ]
      return made.map((one) => (one.outcome === 'stored' ? one.product.name : one.outcome))
    },
    gives: ['Beans', 'sku_taken', 'Beans', 'Beans', 'Beans', 'Beans'],
  },
  {
    name: 'products are listed from the newest id',
    query: async ({ products }) => {
      for (const id of ['p-1', 'p-2', 'p-3']) await products.insert(product(id))
      const listed = async (beforeId: string | null) => (await products.list({ ...page, beforeId })).map(({ id }) => id)
      const one = await products.findInWorkspace('ws-1', 'test', 'p-1')
      return [
        await listed(null),
        await listed('p-2'),
        one?.price.minor,
        await products.findInWorkspace('ws-1', 'live', 'p-1'),
      ]
    },
    gives: [['p-3', 'p-2'], ['p-1'], 1_250n, null],
  },
  {
    name: 'a payment link is inserted once and ends once',
    query: async ({ links }) => {
      await links.insert(link('l-1'))
      const again = await links.insert(link('l-1', { title: 'Other' }))
      await links.insert(link('l-2', { amount: { kind: 'fixed', minor: 5n }, status: 'inactive' }))
      const active = [await links.countActive('ws-1', 'test', 5), await links.countActive('ws-1', 'test', 1)]
      const ended = await links.deactivate('ws-1', 'test', 'l-1', PAST + 5)
      const twice = await links.deactivate('ws-1', 'test', 'l-1', PAST + 9)
      const foreign = await links.deactivate('ws-2', 'test', 'l-1', PAST + 9)
      return [
        again?.title,
        active,
        ended?.status,
        ended?.updatedAt,
        twice?.deactivatedAt,
        foreign,
        (await links.list(page)).length,
      ]
    },
    gives: ['Donate', [1, 1], 'inactive', PAST + 5, PAST + 5, null, 2],
  },
  {
    name: 'a payment link and a product are changed once from a version, with their audit rows',
    query: async ({ links, products }) => {
      const row = (id: string) => ({
        ...{
          id,
          at: PAST,
          actor: 'user:a@example.com',
          action: 'product.updated' as const,
          subject: 'x',
          workspaceId: 'ws-1',
        },
        ...{ mode: 'test' as const, detail: {} },
      })
      const seen = (id: string) => ({ workspaceId: 'ws-1', mode: 'test' as const, id, version: PAST })
      await links.insert(link('l-1', { usesMax: 3 }))
      await products.insert(product('p-1'))
      const terms = { title: 'Give', description: 'more', amount: { kind: 'fixed' as const, minor: 7n } }
      const limits = { usesMax: null, expiresAt: PAST + 99 }
      const linked = async (from: Partial<ReturnType<typeof seen>>, id: string) =>
        await links.update({ ...seen('l-1'), ...from }, { ...terms, ...limits }, PAST + 5, row(id))
      const priced = async (from: Partial<ReturnType<typeof seen>>, id: string) =>
        await products.update(
          ...([
            { ...seen('p-1'), ...from },
            { name: 'Peas', description: null, priceMinor: 8n },
            PAST + 5,
            row(id),
          ] as const),
        )
      const done = [
        ...[await linked({ workspaceId: 'ws-2' }, 'r-1'), await linked({}, 'r-2'), await linked({}, 'r-3')],
        ...[await priced({ workspaceId: 'ws-2' }, 'r-4'), await priced({}, 'r-5'), await priced({}, 'r-6')],
      ]
      const after = await links.findInWorkspace('ws-1', 'test', 'l-1')
      const sold = await products.findInWorkspace('ws-1', 'test', 'p-1')
      await links.deactivate('ws-1', 'test', 'l-1', PAST + 6)
      const ended = await linked({ version: PAST + 6 }, 'r-7')
      return [
        ...[done, after?.title, after?.amount, after?.usesMax, after?.expiresAt, after?.updatedAt, ended],
        ...[sold?.name, sold?.price, sold?.updatedAt],
      ]
    },
    gives: [
      [false, true, false, false, true, false],
      ...['Give', { kind: 'fixed', minor: 7n }, null, PAST + 99, PAST + 5, false],
      ...['Peas', { minor: 8n, currency: 'EUR' }, PAST + 5],
    ],
  },
  {
    name: 'the uses of links are counted in one pass',
    query: async ({ links, invoices }) => {
      for (const [index, paymentLinkId] of ['l-1', 'l-1', 'l-2', null].entries()) {
        const invoice = invoiceNamed(`i-${index}`, { number: index })
        await invoices.insert({ ...invoice, terms: { ...invoice.terms, paymentLinkId } })
      }
      return [...(await links.countUses(['l-1', 'l-2', 'l-3'], PAST))].sort()
    },
    gives: [
      ['l-1', 2],
      ['l-2', 1],
    ],
  },
  {
    name: 'a place of a link’s visitor is one invoice’s, and leaves an invoice that ended, never an open one',
    query: async ({ links, invoices }) => {
      const visitOf = (turn: number, ...more: readonly string[]) => ({
        visit: { places: [...more, `use:l-1:aaaa:0:${turn}`], repeats: turn, quotesUntil: PAST + 9 },
      })
      const first = invoiceNamed('i-1', { number: 1, state: visitOf(0) })
      const second = invoiceNamed('i-2', { number: 2, state: visitOf(1, 'plan:x:0') })
      const made = [
        await invoices.insert({ ...first, linkUse: 'l-1:1' }),
        await invoices.insert(invoiceNamed('i-3', { number: 3, state: visitOf(0) })),
        await invoices.insert(second),
        // Of another connection, whose name begins alike.
        await invoices.insert(invoiceNamed('i-4', { number: 4, state: { visit: placesOf('use:l-1:aaaab:0:0') } })),
      ]
      const seen = async () =>
        (await links.visitsAt('use:l-1:aaaa')).map(({ place, invoiceId, repeats, endedAt }) =>
          [place, invoiceId, repeats, endedAt === null].join(' '),
        )
      const before = await seen()
      const early = await links.releaseVisit({ place: 'use:l-1:aaaa:0:0', invoiceId: 'i-1' })
      for (const one of [first, second]) await invoices.save(changeOf(one, { status: 'expired' }))
      const ended = await seen()
      const released = [
        await links.releaseVisit({ place: 'use:l-1:aaaa:0:0', invoiceId: 'i-1' }),
        await links.releaseVisit({ place: 'use:l-1:aaaa:0:0', invoiceId: 'i-1' }),
        await links.releaseVisit({ place: 'use:l-1:aaaa:0:1', invoiceId: 'i-2' }),
      ]
      const stale = await invoices.save(changeOf(first, { from: 2, status: 'expired' }))
      const left = (await invoices.findById('i-2'))?.state.visit
      return [made.map(({ inserted }) => inserted), before, early, ended, released, stale, await seen(), left?.places]
    },
    gives: [
      [true, false, true, true],
      ['use:l-1:aaaa:0:0 i-1 0 true', 'use:l-1:aaaa:0:1 i-2 1 true'],
      false,
      ['use:l-1:aaaa:0:0 i-1 0 false', 'use:l-1:aaaa:0:1 i-2 1 false'],
      [true, false, true],
      false,
      [],
      ['plan:x:0'],
    ],
  },
  {
    name: 'one rate snapshot stands for each instant, and the latest before a time is found',
    query: async ({ rates }) => {
      const none = await rates.latest()
      await rates.insert(snapshot(PAST + 10))
      await rates.insert(snapshot(PAST + 10, '2'))
      await rates.insert(snapshot(PAST))
      return [
        none,
        (await rates.latest())?.usdPerSymbol['BTC']?.price,
        (await rates.latestBefore(PAST + 9, 100))?.at,
        await rates.latestBefore(PAST + 9, 9),
        (await rates.latestBefore(PAST + 10, 10))?.at,
      ]
    },
    gives: [null, '1', PAST, null, PAST + 10],
  },
]
