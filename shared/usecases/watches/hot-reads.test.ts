import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createHotReads } from './cold-watches.ts'

const SIZE = 3

/** A store whose pages are answered one at a time, when `answer` is called. */
function pagedStore(keys: string[]) {
  const requests: { readonly after: string | null; readonly answer: (error?: Error) => void }[] = []
  const hotWatchKeys = (_mode: string, _family: string, after: string | null, limit: number) => {
    // What is stored after the question may be missing in the answer.
    const page = keys.filter((key) => after === null || key > after).slice(0, limit)
    return new Promise<readonly string[]>((resolve, reject) => {
      requests.push({ after, answer: (error) => (error === undefined ? resolve(page) : reject(error)) })
    })
  }
  const settled = () => new Promise((resolve) => setImmediate(resolve))
  return {
    requests,
    reads: createHotReads({ hotWatchKeys }, 'live', 'evm', SIZE),
    /** Answers the question that is open, if one is. */
    async step(error?: Error): Promise<void> {
      requests.at(-1)?.answer(error)
      await settled()
    },
  }
}

// Guarantee: no scanner starts without an address that was stored before it asked, whoever else reads at the time.
it('each caller gets every key that was stored before its call, wherever it joins', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc
        .uniqueArray(fc.nat(0xfff), { maxLength: 20 })
        .map((keys) => keys.map((key) => key.toString(16).padStart(3, '0')).toSorted()),
      fc.array(fc.nat(12), { minLength: 1, maxLength: 5 }),
      async (stored, arrivals) => {
        const keys = [...stored]
        const store = pagedStore(keys)
        const got = arrivals.map((): string[] => [])
        const wanted = arrivals.map((): readonly string[] => [])
        let ended = 0
        for (let turn = 0; ended < arrivals.length; turn += 1) {
          expect(turn).toBeLessThan(200)
          for (const [caller, at] of arrivals.entries()) {
            if (at !== turn) continue
            wanted[caller] = [...keys]
            void store.reads
              .everyHot((key) => got[caller]?.push(key))
              .then(() => {
                ended += 1
              })
          }
          // Rows are added all over the range while others read.
          keys.push(`${turn.toString(16).padStart(2, '0')}zz`)
          keys.sort()
          await store.step()
        }
        for (const [caller, own] of wanted.entries()) {
          expect(own.filter((key) => got[caller]?.includes(key) !== true)).toEqual([])
        }
      },
    ),
    { numRuns: 300 },
  )
})

it('reads once for callers of one moment, and one page more for one that comes during the first', async () => {
  const keys = Array.from({ length: 8 }, (_, index) => `a${index}`)
  const store = pagedStore(keys)
  const got: string[][] = [[], [], []]
  const calls = [
    store.reads.everyHot((key) => got[0]?.push(key)),
    store.reads.everyHot((key) => got[1]?.push(key)),
    store.reads.everyHot((key) => got[2]?.push(key)),
  ]
  for (let turn = 0; turn < 6; turn += 1) await store.step()
  await Promise.all(calls)
  expect(got.map((one) => one.toSorted())).toEqual([keys, keys, keys])
  expect(store.requests.map(({ after }) => after)).toEqual([null, 'a2', 'a5', null])
  expect(got[1]?.[0]).toBe('a3')
})

it('ends every call with the error of the store, and reads again for the next one', async () => {
  const store = pagedStore(['a0'])
  const failed = Promise.allSettled([store.reads.everyHot(() => undefined), store.reads.everyHot(() => undefined)])
  await store.step(new Error('the store is down'))
  expect((await failed).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  const got: string[] = []
  const again = store.reads.everyHot((key) => got.push(key))
  await store.step()
  await again
  expect(got).toEqual(['a0'])
})
