import { describe, expect, test } from 'vitest'
import { createHashingLimiter } from './hashing-limiter.ts'

/** Lanes whose rests end when the test says so, and tries that are answered when it says so. */
function stage() {
  const rests: { readonly ms: number; readonly end: () => void }[] = []
  const lanes = createHashingLimiter((ms, end) => {
    rests.push({ ms, end })
    return () => undefined
  })
  const begun: string[] = []
  const open = new Map<string, (restMs: number) => void>()
  const enter = (name: string, signal: AbortSignal | null = null, lane = 'office') =>
    lanes.evaluate(
      lane,
      async () => {
        begun.push(name)
        const restMs = await new Promise<number>((resolve) => open.set(name, resolve))
        return { answer: name, restMs }
      },
      signal,
    )
  /** Answers the try that has its turn, and lets what follows happen. */
  const answer = async (name: string, restMs = 0) => {
    open.get(name)?.(restMs)
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { lanes, rests, begun, enter, answer }
}

describe('tries of one lane', () => {
  test('have their turn one after the other, the newest and the oldest by turns', async () => {
    const { begun, enter, answer } = stage()
    const tries = ['a', 'b', 'c', 'd', 'e'].map((name) => enter(name))
    for (const name of ['a', 'e', 'b', 'd', 'c']) {
      expect(begun.at(-1)).toBe(name)
      await answer(name)
    }
    expect(await Promise.all(tries)).toEqual(['a', 'b', 'c', 'd', 'e'])
  })

  test('wait while the lane rests, and those of other lanes do not', async () => {
    const { begun, rests, enter, answer } = stage()
    const first = enter('first')
    void enter('second')
    await answer('first', 100)
    expect([await first, begun, rests.map(({ ms }) => ms)]).toEqual(['first', ['first'], [100]])
    void enter('elsewhere', null, 'home')
    expect(begun).toEqual(['first', 'elsewhere'])
    rests[0]?.end()
    await answer('second')
    expect(begun).toEqual(['first', 'elsewhere', 'second'])
  })

  test('are not checked when their client hung up before their turn, and hand the turn on when they fail', async () => {
    const { lanes, begun, enter, answer } = stage()
    void enter('a')
    const failing = expect(
      lanes.evaluate('office', () => Promise.reject(new Error('the store is away')), null),
    ).rejects.toThrow('the store is away')
    const cut = new AbortController()
    const gone = enter('gone', cut.signal)
    const last = enter('last')
    cut.abort()
    await expect(gone).rejects.toBe(cut.signal.reason)
    await answer('a')
    await answer('last')
    await failing
    expect([await last, begun]).toEqual(['last', ['a', 'last']])
    await expect(enter('late', cut.signal)).rejects.toBe(cut.signal.reason)
    void enter('next')
    expect(begun.at(-1)).toBe('next')
  })
})
