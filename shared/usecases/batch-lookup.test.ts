import { expect, test } from 'vitest'
import { createBatchLookup } from './batch-lookup.ts'

test('look-ups of one turn share a read, and answers are never mixed up', async () => {
  const reads: (readonly string[])[] = []
  const lookup = createBatchLookup((ids) => {
    reads.push(ids)
    return Promise.resolve(ids.filter((id) => id !== 'unknown').map((id) => ({ id })))
  })
  const answers = await Promise.all(['a', 'b', 'b', 'unknown'].map(lookup))
  expect(answers).toEqual([{ id: 'a' }, { id: 'b' }, { id: 'b' }, null])
  expect(reads).toEqual([['a', 'b', 'unknown']])
})

test('a failed read fails its own look-ups and no later ones', async () => {
  let fails = true
  const lookup = createBatchLookup((ids) =>
    fails ? Promise.reject(new Error('store away')) : Promise.resolve(ids.map((id) => ({ id }))),
  )
  await expect(lookup('a')).rejects.toThrow('store away')
  fails = false
  expect(await lookup('a')).toEqual({ id: 'a' })
})
