import { describe, type SuiteAPI, type TestAPI, test } from 'vitest'
import { EVERY_CASE } from './every-case.ts'

/** Declares nothing, in whatever form it is called. */
const nothing = Object.assign(() => undefined, { each: () => () => undefined })

/**
 * `test` in the stage `cases`, and nothing in `npm test`: for slow stories whose code the other tests of the file mostly reach. None of
 * them guards money or data (`depth.test.ts`), and none is cited by the documents of guarantees (`citations.ts`).
 */
export const deepTest: TestAPI = EVERY_CASE ? test : (nothing as unknown as TestAPI)

/** `describe` for a group of such tests: empty groups are errors. */
export const deepDescribe: SuiteAPI = EVERY_CASE ? describe : (nothing as unknown as SuiteAPI)

/**
 * The cases of a large table that this run tests: all of them in the stage `cases`; otherwise `count` of them, always the same, spread
 * evenly over the table from its first to its last. A table that is this short is tested whole.
 *
 * @param count At least 1.
 */
export function sampleOf<const T>(cases: readonly T[], count: number): readonly T[] {
  if (EVERY_CASE || cases.length <= count) return cases
  if (count === 1) return cases.slice(0, 1)
  const step = (cases.length - 1) / (count - 1)
  return Array.from({ length: count }, (_, index) => cases[Math.round(index * step)] as T)
}

/** In `npm test` the first case of each kind; all of them in the stage `cases`. */
export function oneOfEach<const T>(cases: readonly T[], kindOf: (one: T) => unknown): readonly T[] {
  if (EVERY_CASE) return cases
  const seen = new Set<unknown>()
  return cases.filter((one) => {
    const kind = kindOf(one)
    const isNew = !seen.has(kind)
    seen.add(kind)
    return isNew
  })
}

/**
 * In `npm test` the cases with these names, which are the first cells of their rows; all of them in the stage `cases`.
 *
 * @throws {Error} when there is no case of a name.
 */
export function namedOf<const T extends readonly [unknown, ...unknown[]]>(
  cases: readonly T[],
  ...names: readonly string[]
): readonly T[] {
  const unknown = names.filter((name) => !cases.some(([first]) => first === name))
  if (unknown.length > 0) throw new Error(`no case is called ${unknown.join(', ')}`)
  return EVERY_CASE ? cases : cases.filter(([first]) => names.includes(String(first)))
}
