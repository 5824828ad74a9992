import { expect, test } from 'vitest'
import type { Invoice } from '#shared/ports/invoices.ts'
import { createRandom } from '#shared/runtime/secrets/random.ts'
import type { Devices, Store } from '#shared/usecases/uses.ts'
import { sampleInvoice } from '#test/support/db-samples.ts'
import { standIn } from '#test/support/stand-in.ts'
import { exportInvoices } from './export-invoices.ts'

const random = createRandom(Date.now)
const invoice = (number: number): Invoice => ({
  ...sampleInvoice(random, { number }),
  outbox: [],
  lastOps: [],
  refundSeq: 0,
})
const query = {
  ...{ workspaceId: 'ws-1', mode: 'test' as const, search: null, status: null, asset: null, source: null, flag: null },
  ...{ createdFrom: null, createdTo: null },
}

// Guarantee: a file never ends early without a word. Filters that no index serves give short and empty pages that go on.
test('an export goes on behind short and empty pages until the last one', async () => {
  const pages = [
    { invoices: [invoice(3), invoice(2)], next: 'a' },
    { invoices: [], next: 'b' },
    { invoices: [invoice(1)], next: null },
  ]
  const requests: (string | null)[] = []
  const deps = {
    lookups: {
      page: async ({ beforeId }: { readonly beforeId: string | null }) => {
        requests.push(beforeId)
        const page = pages[requests.length - 1]
        if (page === undefined) throw new Error('read behind the last page')
        return page
      },
    },
    paymentLookups: standIn<Store['paymentLookups']>({ ofInvoices: async () => [] }),
    refunds: standIn<Store['refunds']>({ ofInvoices: async () => [] }),
    catalog: standIn<Devices['catalog']>({}),
    reportingCurrency: 'USD' as const,
    networkName: (network: string) => network,
  }
  let text = ''
  for await (const part of exportInvoices(deps, query)) text += part
  const lines = text.trimEnd().split('\r\n')
  expect(lines.map((line) => line.split(',')[1])).toEqual(['invoice_number', '3', '2', '1'])
  expect(requests).toEqual([null, 'a', 'b'])
})
