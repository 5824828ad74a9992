import { expect, it } from 'vitest'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { verifyIndexes } from '#shared/db/schema/migrate.ts'
import { emptyDatabase } from './empty-database.ts'
import { useStores } from './stores.ts'

const stores = useStores()

it('removes documents and strange collections, and makes an index again that a test took away', async () => {
  const { db } = stores
  const [index] = INVOICES.indexes
  await db.connection.collection('invoices').insertOne({ left: 'over' })
  await db.connection.collection('strange').insertOne({ left: 'over' })
  await db.collection(INVOICES).dropIndex(index?.name ?? '')
  await expect(verifyIndexes(db)).rejects.toThrow(index?.name)
  await emptyDatabase(db)
  await verifyIndexes(db)
  expect(await db.collection(INVOICES).countDocuments()).toBe(0)
  expect((await db.connection.listCollections()).map(({ name }) => name)).not.toContain('strange')
  await emptyDatabase(db)
  await verifyIndexes(db)
})
