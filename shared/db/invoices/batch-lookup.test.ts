import { expect, test, vi } from 'vitest'
import { createLookup } from './grouped-calls.ts'

function lookupBy(findMany: (ids: readonly string[]) => Promise<readonly { readonly id: string }[]>) {
  return createLookup('id', findMany)
}

test('look-ups of one turn share a read, and answers are never mixed up', async () => {
  const reads: (readonly string[])[] = []
  const lookup = lookupBy((ids) => {
    reads.push(ids)
    return Promise.resolve(ids.filter((id) => id !== 'unknown').map((id) => ({ id })))
  })
  const answers = await Promise.all(['a', 'b', 'b', 'unknown'].map(lookup))
  expect(answers).toEqual([{ id: 'a' }, { id: 'b' }, { id: 'b' }, null])
  expect(reads).toEqual([['a', 'b', 'unknown']])
})

test('a failed read fails its own look-ups and no later ones', async () => {
  let fails = true
  const lookup = lookupBy((ids) =>
    fails ? Promise.reject(new Error('store away')) : Promise.resolve(ids.map((id) => ({ id }))),
  )
  await expect(lookup('a')).rejects.toThrow('store away')
  fails = false
  expect(await lookup('a')).toEqual({ id: 'a' })
})

// Guarantee: a revocation before the request is seen by it, whatever reads were on their way.
test('a read that runs already answers nobody who asks later', async () => {
  let stored = 'old'
  const finish: (() => void)[] = []
  const lookup = lookupBy(async (ids) => {
    const seen = stored
    await new Promise<void>((resolve) => finish.push(resolve))
    return ids.map((id) => ({ id, seen }))
  })
  const first = lookup('a')
  await vi.waitUntil(() => finish.length === 1)
  stored = 'new'
  const second = lookup('a')
  finish[0]?.()
  expect(await first).toMatchObject({ seen: 'old' })
  await vi.waitUntil(() => finish.length === 2)
  finish[1]?.()
  expect(await second).toMatchObject({ seen: 'new' })
})
