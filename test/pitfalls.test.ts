import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

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

/** What a row cites: a file and the title of a test in it. */
function citations({ shown }: Row): readonly (readonly [file: string, title: string])[] {
  return [...shown.matchAll(/`([^`]+\.test\.ts)` › `([^`]+)`/g)].map(([, file = '', title = '']) => [file, title])
}

/** Why a citation is wrong; null when a test of that title is in that file. */
function problemOf(file: string, title: string): string | null {
  if (!existsSync(file)) return `no file ${file}`
  const source = readFileSync(file, 'utf8').replaceAll("\\'", "'")
  return [`'${title}'`, `"${title}"`, `\`${title}\``].some((literal) => source.includes(literal))
    ? null
    : `no test "${title}" in ${file}`
}

describe.each([
  ['What chains do', 25],
  ['What payment systems get wrong', 37],
  ['What operators read', 7],
])('the table "%s"', (heading, count) => {
  const rows = rowsUnder(heading)

  it('has every case in its order', () => {
    expect(rows.map(({ number }) => number)).toEqual(Array.from({ length: count }, (_, index) => index + 1))
  })

  it('names at least one test for each', () => {
    expect(rows.filter((row) => citations(row).length === 0)).toEqual([])
  })

  it('names tests that exist', () => {
    const problems = rows.flatMap((row) =>
      citations(row).flatMap(([file, title]) => {
        const problem = problemOf(file, title)
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

it('a citation of no file or of no test is noticed', () => {
  expect(problemOf('test/nowhere.test.ts', 'anything')).toMatch('no file')
  expect(problemOf('test/flow/paid.test.ts', 'something that nobody tests')).toMatch('no test')
})
