import type mongoose from 'mongoose'
import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { sampleDocument } from '#test/support/sample-document.ts'
import { useStores } from '#test/support/stores.ts'
import { migrate, setValidators } from './migrate.ts'
import { MODELS } from './models.ts'

const stores = useStores()
const validated = MODELS.filter(({ validator }) => validator?.['$jsonSchema'] !== undefined)
/** Whether the store refuses a document; one that it takes is removed again. */
async function isRefused(name: string, document: object): Promise<boolean> {
  const rows = stores.db.connection.collection<mongoose.mongo.Document>(name)
  try {
    const { insertedId } = await rows.insertOne({ ...document }, { writeConcern: { w: 1 } })
    await rows.deleteOne({ _id: insertedId }, { writeConcern: { w: 1 } })
    return false
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 121) return true
    throw error
  }
}

// Another file that had this database may have made a collection again.
beforeAll(() => migrate(stores.db))

it('leaves out only the collections of the hot paths', () => {
  const others = MODELS.filter((model) => !validated.includes(model)).map(({ name }) => name)
  expect(others).toEqual(['invoices', 'payments', 'webhook_deliveries'])
})

// Guarantee: no process, of whatever version, stores what the code cannot read.
describe.each(validated)('$name', ({ name, schema }) => {
  const whole = sampleDocument(schema)
  const fields = Object.entries(schema.shape)

  it('takes a document with every field, and one with the required fields only', async () => {
    const required = fields.filter(([, field]) => !(field instanceof z.ZodExactOptional)).map(([field]) => field)
    expect(await isRefused(name, whole)).toBe(false)
    expect(await isRefused(name, Object.fromEntries(required.map((field) => [field, whole[field]])))).toBe(false)
    expect(schema.strict().safeParse(whole).error).toBeUndefined()
  })

  it('takes each field of its own type only, and none that is missing, or null without meaning it', async () => {
    for (const [field, type] of fields) {
      // Another type than any field has: the store compares types, and the driver writes this one as it is.
      expect([field, await isRefused(name, { ...whole, [field]: field === '_id' ? 1 : /a/ })]).toEqual([field, true])
      if (field === '_id') continue
      const { [field]: _gone, ...rest } = whole
      expect([field, await isRefused(name, rest)]).toEqual([field, !(type instanceof z.ZodExactOptional)])
      const takesNull = type.safeParse(null).success
      expect([field, await isRefused(name, { ...whole, [field]: null })]).toEqual([field, !takesNull])
    }
  })
})

it('brings back a validator that was taken off, and looks into what a document contains', async () => {
  const native = stores.db.connection.getClient().db(stores.db.name)
  const products = MODELS.find(({ name }) => name === 'products')
  if (products === undefined) throw new Error('there is a model of products')
  const broken = { ...sampleDocument(products.schema), price: { minor: 1, currency: 'USD' } }
  await native.command({ collMod: 'products', validator: {} })
  expect(await isRefused('products', broken)).toBe(false)
  await migrate(stores.db)
  expect(await isRefused('products', broken)).toBe(true)
})

it('reports a store that does not let its user set validators, and goes on', async () => {
  const lines: string[] = []
  const refused = Object.assign(new Error('not authorized'), { code: 13 })
  const native = {
    listCollections: () => ({ toArray: async () => [] }),
    command: async () => {
      throw refused
    },
  }
  const db = { name: 'a', connection: { getClient: () => ({ db: () => native }) } } as unknown as typeof stores.db
  await setValidators(db, (line) => lines.push(line))
  expect(lines).toHaveLength(MODELS.filter(({ validator }) => validator !== undefined).length)
  expect(lines[0]).toMatch(/^workspaces: the store does not let this user set a validator/)
  refused.code = 1
  await expect(setValidators(db, () => undefined)).rejects.toThrow('not authorized')
})
