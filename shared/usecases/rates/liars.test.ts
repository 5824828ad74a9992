import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { highestOf, type Walk } from '#test/support/liars.ts'

const REPORT = readFileSync('docs/reports/liars.md', 'utf8')

const CAMPS = [
  [2, 5],
  [3, 5],
  [4, 5],
  [2, 6],
  [3, 6],
  [4, 6],
  [5, 6],
] as const
const STEPS = [1, 3, 5, 9.9, 15, 20, 29, 30] as const
const TEN_MINUTES = 40
const silent = async (): Promise<null> => null
const truthful = async (): Promise<boolean> => false

/** Ten minutes of one camp and step: at once, with and without an aggregator that has the honest price, and as patient liars would. */
async function rowOf(liars: number, of: number, stepPercent: number): Promise<readonly number[]> {
  const walk = { liars, of, stepPercent, cycles: TEN_MINUTES }
  const straight = await highestOf({ ...walk, agrees: silent })
  const patient = await highestOf({ ...walk, agrees: silent, isPatient: true })
  const checked = await Promise.all(
    [false, true].map((isPatient) => highestOf({ ...walk, agrees: truthful, isPatient })),
  )
  return [straight, patient, Math.max(...checked)]
}

// Money: a majority that lies does not set the price, in one step or in many.
describe('sources that lie together', () => {
  it('stay in the bounds of the report, whose columns "after" are these figures', async () => {
    for (const [liars, of] of CAMPS) {
      for (const step of STEPS) {
        const [straight = 0, patient = 0, checked = 0] = await rowOf(liars, of, step)
        expect(Math.max(straight, patient), `${liars} of ${of} by ${step} %`).toBeLessThanOrEqual(30)
        expect(checked).toBeLessThanOrEqual(10)
        const after = [straight, patient, checked].map((percent) => percent.toFixed(1)).join(' | ')
        expect(REPORT).toMatch(
          new RegExp(`\\n\\| ${liars} of ${of} \\| ${step} % \\|[^|\\n]*\\| ${escaped(after)} \\|\\n`),
        )
      }
    }
  })

  it('get no further than 30 % in a day, however patient they are', async () => {
    const day: Walk = { liars: 4, of: 6, stepPercent: 4, cycles: 5_760, isPatient: true, agrees: silent }
    expect(await highestOf(day)).toBeLessThanOrEqual(30)
  })
})

function escaped(text: string): string {
  return text.replaceAll(/[.|]/g, '\\$&')
}
