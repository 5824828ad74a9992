import { expect, it } from 'vitest'
import { createFundsGate } from './funds-gate.ts'

const limited = expect.objectContaining({ code: 'RATE_LIMITED' })
const MINUTE_MS = 60_000

/** A gate at a time that the test sets, and a reading that ends when the test says so. */
function stage() {
  const clock = { at: 1_000 }
  const gate = createFundsGate(() => clock.at)
  const open: (() => void)[] = []
  const counts = { readings: 0 }
  const slow = () =>
    new Promise<string>((resolve) => {
      counts.readings += 1
      open.push(() => resolve('page'))
    })
  return { clock, gate, slow, open, counts }
}
const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

// Guarantee: a workspace that sends request upon request fills no memory and holds no other workspace up.
it('lets twenty requests of a workspace wait, refuses the next, and takes others', async () => {
  const { gate, slow, open, counts } = stage()
  const first = gate.run('a', 'page 0', slow)
  const waiting = Array.from({ length: 20 }, (_, index) => gate.run('a', `page ${index + 1}`, async () => index))
  await expect(gate.run('a', 'page 21', slow)).rejects.toEqual(limited)
  expect(await gate.run('b', 'page 21', async () => 'theirs')).toBe('theirs')
  await settled()
  expect(counts.readings).toBe(1)
  open[0]?.()
  expect(await first).toBe('page')
  expect(await Promise.all(waiting)).toEqual(waiting.map((_, index) => index))
  expect(await gate.run('a', 'page 21', async () => 'after')).toBe('after')
})

it('shows a page again without waiting for the reading of another one', async () => {
  const { clock, gate, slow, open } = stage()
  expect(await gate.run('a', 'known', async () => 1)).toBe(1)
  const other = gate.run('a', 'other', slow)
  await settled()
  expect(await gate.run('a', 'known', async () => 2)).toBe(1)
  open[0]?.()
  await other
  clock.at += 30_000
  expect(await gate.run('a', 'known', async () => 2)).toBe(2)
})

// Guarantee: over time a workspace costs no more than this, by failing readings as well.
it('reads 500 times in ten minutes for a workspace, and again when the first of them are older', async () => {
  const { clock, gate } = stage()
  const failing = async () => {
    throw new Error('silence')
  }
  const answers: string[] = []
  const request = (count: number, workspaceId = 'a') =>
    Array.from({ length: count }).reduce<Promise<void>>(async (before) => {
      await before
      const key = `${clock.at} ${answers.length}`
      await gate.run(workspaceId, key, answers.length % 2 === 0 ? failing : async () => 'page').then(
        () => answers.push('read'),
        (error: unknown) => answers.push((error as { code?: string }).code ?? 'failed'),
      )
    }, Promise.resolve())
  await request(300)
  clock.at += 6 * MINUTE_MS
  await request(200)
  expect(answers.filter((answer) => answer === 'RATE_LIMITED')).toEqual([])
  await request(1)
  expect(answers.at(-1)).toBe('RATE_LIMITED')
  await request(1, 'b')
  expect(answers.at(-1)).not.toBe('RATE_LIMITED')
  // The 300 of the beginning have left the ten minutes; the 200 after them have not.
  clock.at += 4 * MINUTE_MS
  const from = answers.length
  await request(301)
  const since = answers.slice(from)
  expect(since.indexOf('RATE_LIMITED')).toBe(300)
})

it('says when to try again', async () => {
  const { clock, gate } = stage()
  for (let index = 0; index < 500; index += 1) await gate.run('a', String(index), async () => index)
  clock.at += 9 * MINUTE_MS
  const refused = gate.run('a', 'more', async () => 1)
  await expect(refused).rejects.toMatchObject({ details: [{ path: 'retryAfter', message: '60' }] })
})
