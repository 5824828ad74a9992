import { expect, it } from 'vitest'
import { type Episode, nextEpisodes, type Problem, QUIET_MS } from './episodes.ts'

const MINUTE = 60_000
const problem = (name: string, patienceMs = 0): Problem => ({
  name,
  headline: name,
  text: `${name} is wrong`,
  patienceMs,
})

/** What happens to a problem that is seen in these minutes: when it is announced, and when it ends. */
function lived(seen: (minute: number) => boolean, { minutes = 120, patienceMs = 0 } = {}) {
  const announced: number[] = []
  const ended: number[] = []
  let episodes: readonly Episode[] = []
  for (let minute = 0; minute < minutes; minute += 1) {
    const now = minute * MINUTE
    episodes = nextEpisodes(episodes, seen(minute) ? [problem('bitcoin', patienceMs)] : [], now)
    for (const one of episodes) {
      if (one.announcedAt === now) announced.push(minute)
      if (one.endedAt === now) ended.push(minute)
    }
  }
  return { announced, ended, left: episodes.length }
}

it('announces a problem once, and its end once it stayed away', () => {
  expect(lived((minute) => minute >= 3 && minute < 50)).toEqual({ announced: [3], ended: [65], left: 0 })
})

// Guarantee: a problem that comes and goes floods nobody.
it('is one episode for as long as it keeps coming back', () => {
  expect(lived((minute) => minute % 14 === 0 && minute < 100)).toEqual({ announced: [0], ended: [114], left: 0 })
  expect(lived((minute) => minute % 2 === 0, { minutes: 1_000 })).toEqual({ announced: [0], ended: [], left: 1 })
})

it('announces nothing that went before its patience was over', () => {
  expect(lived((minute) => minute < 9, { patienceMs: 10 * MINUTE })).toEqual({ announced: [], ended: [], left: 0 })
  expect(lived(() => true, { patienceMs: 10 * MINUTE }).announced).toEqual([10])
})

it('keeps problems apart, and the newest words of each', () => {
  const first = nextEpisodes([], [problem('a'), problem('b')], 0)
  const second = nextEpisodes(first, [{ ...problem('a'), text: 'worse' }], MINUTE)
  expect(second.map(({ name, text, announcedAt, wellSince }) => [name, text, announcedAt, wellSince])).toEqual([
    ['a', 'worse', 0, null],
    ['b', 'b is wrong', 0, MINUTE],
  ])
  const third = nextEpisodes(second, [], MINUTE + QUIET_MS)
  expect(third.map(({ name, endedAt }) => [name, endedAt])).toEqual([
    ['a', null],
    ['b', MINUTE + QUIET_MS],
  ])
})
