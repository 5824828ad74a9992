import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { absenceFromEveryRun, type Citation, citationProblem, citationsIn } from '#test/support/citations.ts'

const DOCUMENT = 'docs/payment-pitfalls.md'

interface Row {
  readonly number: number
  readonly shown: string
}

/** The rows of one table, by the heading above it. */
function rowsUnder(heading: string): readonly Row[] {
  const text = readFileSync(DOCUMENT, 'utf8')
  const section = text.split('\n## ').find((part) => part.startsWith(heading)) ?? ''
  return [...section.matchAll(/^\| (\d+) \| [^|]+ \| (.+) \|$/gm)].map(([, number, shown = '']) => ({
    number: Number(number),
    shown,
  }))
}

const citations = ({ shown }: Row): readonly Citation[] => citationsIn(shown)

describe.each([
  ['What chains do', 29],
  ['What payment systems get wrong', 37],
  ['What hostile reviews found', 5],
])('the table "%s"', (heading, atLeast) => {
  const rows = rowsUnder(heading)

  it('has every case in its order', () => {
    expect(rows.length).toBeGreaterThanOrEqual(atLeast)
    expect(rows.map(({ number }) => number)).toEqual(rows.map((_, index) => index + 1))
  })

  it('names at least one test for each', () => {
    expect(rows.filter((row) => citations(row).length === 0)).toEqual([])
  })

  it('names tests that exist, and that npm test runs', () => {
    const problems = rows.flatMap((row) =>
      citations(row).flatMap((citation) => {
        const problem = citationProblem(citation) ?? absenceFromEveryRun(citation)
        return problem === null ? [] : [`${row.number}: ${problem}`]
      }),
    )
    expect(problems).toEqual([])
  })

  it('cites nothing in another form', () => {
    const uncited = rows.filter((row) => row.shown.split('.test.ts`').length - 1 !== citations(row).length)
    expect(uncited).toEqual([])
  })
})

it('a citation of no file, of no test or of one that waits for the night is noticed', () => {
  expect(citationProblem(['test/nowhere.test.ts', 'anything'])).toMatch('no file')
  expect(citationProblem(['test/flow/paid.test.ts', 'something that nobody tests'])).toMatch('no test')
  expect(absenceFromEveryRun(['test/browser/scanning.deep.test.ts', 'anything'])).toMatch('not in npm test')
  const slow: Citation = ['test/recovery/back-up-schedule.int.test.ts', 'ends the wait for the next archive']
  expect([citationProblem(slow), absenceFromEveryRun(slow)]).toEqual([null, expect.stringMatching('not in npm test')])
})
