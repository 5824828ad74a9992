import { expect, it } from 'vitest'
import { digestOf } from './store-digest.ts'
import { useStores } from './stores.ts'

const stores = useStores()

// Guarantee: what other tests take for "nothing changed" sees a change of one field, and no change when it is taken back.
it('differs for one changed field, in the line of its collection only', async () => {
  const products = stores.db.connection.collection<{ _id: string; n: number }>('products')
  const empty = await digestOf(stores)
  await products.insertOne({ _id: 'a', n: 1 }, { bypassDocumentValidation: true })
  const before = await digestOf(stores)
  await products.updateOne({ _id: 'a' }, { $set: { n: 2 } }, { bypassDocumentValidation: true })
  const after = await digestOf(stores)
  expect(after.filter((line) => !before.includes(line)).map((line) => line.split(' ')[0])).toEqual(['products'])
  await products.updateOne({ _id: 'a' }, { $set: { n: 1 } }, { bypassDocumentValidation: true })
  expect(await digestOf(stores)).toEqual(before)
  await products.deleteOne({ _id: 'a' })
  expect(await digestOf(stores)).toEqual(empty)
})
