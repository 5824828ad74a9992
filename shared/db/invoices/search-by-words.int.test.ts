import { beforeAll, expect, it } from 'vitest'
import { createCustomerEraser } from '#shared/db/maintenance/customer-erasure.ts'
import type { InvoicePageQuery } from '#shared/ports/invoice-lookups.ts'
import { readInvoiceSearch } from '#shared/usecases/invoices/invoice-search.ts'
import { commandsOf } from '#test/support/commands-of.ts'
import { sampleInvoice } from '#test/support/db-samples.ts'
import { useStores } from '#test/support/stores.ts'
import { createInvoiceLookups } from './admin-invoice-lookups.ts'
import { INVOICES } from './invoice-model.ts'
import { createInvoiceRepository } from './invoice-repository.ts'

const stores = useStores()
const MANY = 700
const QUERY: InvoicePageQuery = {
  ...{ workspaceId: 'ws', mode: 'test', search: null, status: null, createdFrom: null, createdTo: null },
  ...{ asset: null, source: null, flag: null, limit: 100, beforeId: null },
}
const ids: string[] = []
/** Names whose letters not every keyboard has, and what finds them besides themselves: invoices 5 and on. */
const LETTERS: readonly (readonly [string, ...string[]])[] = [
  ['Łukasz Głowacki', 'lukasz', 'Łukasz', 'ŁUKASZ GLOW'],
  ['Søren Kjær', 'soren kjaer', 'Sør'],
  ['Çağrı Işık', 'cagri isik', 'IŞIK'],
  ['Ðóra Þorsteinsdóttir', 'dora thorst', 'Þor'],
  ['Weiß Strasser', 'weiss', 'WEISS straßer'],
  ['Βασίλης Đurić', 'ΒΑΣ', 'duric'],
  ['علی رضا', 'علي'],
  ['Jörg Däubler', 'joerg', 'Joerg Daeubler', 'jorg daub', 'Jörg Däubler'],
  ['Joern Baecker', 'jörn', 'Jörn Bäcker'],
  ["Sinéad O'Brien", 'obrien', "o'brien", 'O’Brien', 'sinead obrien', 'OBrien'],
  ['Obrian Dangelo', "O'Brian", "d'Angelo"],
]

beforeAll(async () => {
  const { db, runtime } = stores
  const invoices = createInvoiceRepository(db)
  const insert = async (number: number, name: string | null, minor: bigint, workspaceId = 'ws') => {
    const sample = sampleInvoice(runtime.random, { workspaceId, number, at: Date.now(), orderId: `o-${number}` })
    const customer = { email: null, name }
    const fiat = { minor, currency: 'USD' as const }
    const invoice = { ...sample, terms: { ...sample.terms, customer, fiat } }
    await invoices.insert(invoice)
    return invoice.terms.id
  }
  ids.push(await insert(1, 'Jürgen Müller', 4_800n))
  ids.push(await insert(2, 'María Fernanda Gutiérrez de la Fuente', 125_000n))
  ids.push(await insert(3, 'محمد الفاتح', 4_900n))
  await insert(4, 'Jürgen Müller', 4_800n, 'another')
  for (const [at, [name]] of LETTERS.entries()) await insert(5 + at, name, 6_000n)
  // A crowd of one name and one amount.
  await Promise.all(Array.from({ length: MANY }, (_, at) => insert(100 + at, `Ana Reyes ${'abcdefg'[at % 7]}`, 5_000n)))
})

const numbersOf = async (text: string) => {
  const search = readInvoiceSearch(() => [], 'test', text)
  const { invoices } = await createInvoiceLookups(stores.db).page({ ...QUERY, search })
  return invoices.map(({ terms }) => terms.number).sort((one, other) => one - other)
}

it.each<[string, readonly number[]]>([
  ['Jürgen', [1]],
  ['jurg', [1]],
  ['MÜLLER', [1]],
  ['Jürgen Müller', [1]],
  ['müller jür', [1]],
  ['Jürgen Gutiérrez', []],
  ['maria de la fuente', [2]],
  ['الفاتح', [3]],
  ['48.00', [1]],
  ['48', [1]],
  ['48.00 USD', [1]],
  ['usd 48', [1]],
  ['48.00 EUR', []],
  ['1,250.00', [2]],
  ['1250.00 USD', [2]],
  ['o-2', [2]],
  ['2', [2]],
  ['urgen', []],
  ...LETTERS.flatMap((texts, at) => texts.map((text): [string, number[]] => [text, [5 + at]])),
])('%j finds %j', async (text, numbers) => expect(await numbersOf(text)).toEqual(numbers))

// Guarantee: however many share a name or an amount, an answer reads at most 200 documents.
it.each(['Ana', 'Ana Reyes', 'a', '50.00', '50', 'Ana zzz', 'Ana oreyes', 'zzz'])(
  '%j examines at most 200 documents',
  async (text) => {
    const commands = await commandsOf(stores.db, async () => {
      const found = await numbersOf(text)
      if (!/z|or/.test(text)) expect(found.length).toBeGreaterThan(20)
    })
    const rows = commands.filter(({ ns }) => ns === `${stores.database}.${INVOICES.name}`)
    const examined = rows.reduce((sum, { docsExamined = 0 }) => sum + Number(docsExamined), 0)
    expect(examined).toBeLessThanOrEqual(200)
  },
)

// Guarantee: a customer who was erased is found by no word of their name, and nothing of it is stored.
it('erases the words with the customer', async () => {
  const [id = ''] = ids
  await createCustomerEraser(stores.db).eraseInvoice({ workspaceId: 'ws', mode: 'test', invoiceId: id }, Date.now(), {
    ...{ id: 'customer-erased:1', at: Date.now(), actor: 'test', action: 'invoice.customer_erased' },
    ...{ subject: id, workspaceId: null, mode: null, detail: {} },
  })
  expect(await numbersOf('Jürgen')).toEqual([])
  expect((await stores.db.collection(INVOICES).findOne({ _id: id }))?.searchWords).toEqual(['=48.00'])
  expect(await numbersOf('48.00')).toEqual([1])
})
