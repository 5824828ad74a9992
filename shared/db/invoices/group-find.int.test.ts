import { expect, test } from 'vitest'
import { sampleInvoice } from '#test/support/db-samples.ts'
import { useStores } from '#test/support/stores.ts'
import { createGroupedFind } from './grouped-calls.ts'
import { INVOICES } from './invoice-model.ts'
import { createInvoiceRepository, type InvoiceRepository } from './invoice-repository.ts'

const stores = useStores()

async function insert(workspaceId: string, number: number): Promise<string> {
  const invoice = sampleInvoice(stores.runtime.random, { workspaceId, number })
  await createInvoiceRepository(stores.db).insert(invoice)
  return invoice.terms.id
}

// Guarantee: whoever shares a read with others still sees only invoices of its own workspace and mode.
test('gives each of a crowd what a read of its own would have given', async () => {
  const [ours, theirs] = [await insert('ours', 1), await insert('theirs', 1)]
  const questions: Parameters<InvoiceRepository['findInWorkspace']>[] = [
    ['ours', 'test', ours],
    ['theirs', 'test', theirs],
    ['ours', 'test', theirs],
    ['theirs', 'test', ours],
    ['ours', 'live', ours],
    ['theirs', 'live', 'unknown'],
    ['ours', 'test', ours],
  ]
  const alone = createInvoiceRepository(stores.db).findInWorkspace
  const together = createGroupedFind(stores.db)
  const answers = await Promise.all(questions.map((question) => together(...question)))
  expect(answers.map((found) => found?.terms.id ?? null)).toEqual([ours, theirs, null, null, null, null, ours])
  expect(answers).toEqual(await Promise.all(questions.map((question) => alone(...question))))
})

test('a document that cannot be understood fails its own reader only', async () => {
  const [broken, sound] = [await insert('w', 1), await insert('w', 2)]
  await stores.db.collection(INVOICES).updateOne({ _id: broken }, { $unset: { paymentMethods: '' } })
  const find = createGroupedFind(stores.db)
  const [first, second] = await Promise.allSettled([find('w', 'test', broken), find('w', 'test', sound)])
  expect(first?.status).toBe('rejected')
  expect(second).toMatchObject({ status: 'fulfilled', value: { terms: { id: sound } } })
})
