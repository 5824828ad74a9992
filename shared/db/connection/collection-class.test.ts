import { expect, it } from 'vitest'
import { MODELS } from '#shared/db/schema/models.ts'
import { COLLECTION_CLASSES, classOf } from './collection-class.ts'

// Guards data and secrets: no collection is added without a word on back-up, sealed values and life.
it('knows every collection and no other', () => {
  expect(Object.keys(COLLECTION_CLASSES).sort()).toEqual(MODELS.map(({ name }) => name).sort())
})

it('names exactly the indexes by which the store itself removes documents', () => {
  for (const { name, indexes } of MODELS) {
    const { life } = classOf(name)
    const ending = indexes
      .filter(({ expireAfterSeconds }) => expireAfterSeconds !== undefined)
      .map((index) => index.name)
    expect([name, ending]).toEqual([name, life.kept === 'ttl' ? [life.index] : []])
  }
})

// Guards secrets: a field that is called sealed is one that a new master key reaches.
it('knows every sealed field that a schema declares', () => {
  for (const { name, schema } of MODELS) {
    const declared = Object.keys(schema.shape).filter((path) => /sealed/i.test(path))
    const known = classOf(name).sealed.map(({ path }) => path.split('.')[0])
    for (const path of declared) expect([name, known]).toEqual([name, expect.arrayContaining([path.split('.')[0]])])
  }
})
