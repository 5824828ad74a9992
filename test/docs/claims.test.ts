import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { citationProblem, citationsIn } from '#test/support/citations.ts'

const CLAIMS = readFileSync('docs/reports/claims.md', 'utf8')
/** The sections of the table, and how many claims each has at least. */
const SECTIONS = { 'README.md': 50, 'Decision 21': 12, 'Decision 28': 24, 'Decision 29': 30 } as const

/** The rows of a section, without head and rule. */
const rowsOf = (section: string): readonly string[] =>
  (CLAIMS.split(`\n## ${section}\n`)[1]?.split('\n## ')[0] ?? '')
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .slice(1)

// Guarantee: what README and these decisions claim is shown by a test that exists under the name that the table gives.
describe('README and decisions 21, 28 and 29', () => {
  it.each(Object.entries(SECTIONS))(
    '%s has a row for each claim, with the test or the reading that shows it',
    (section, least) => {
      const rows = rowsOf(section)
      expect(rows.length).toBeGreaterThanOrEqual(least)
      const bare = rows.filter((row) => !/`[^`]+\.test\.ts`/.test(row) && !row.includes('| by reading'))
      expect(bare).toEqual([])
      // What no test shows is said to be so, and is rare.
      expect(rows.filter((row) => row.includes('| by reading')).length).toBeLessThanOrEqual(2)
    },
  )

  it('cite tests whose titles exist', () => {
    const cited = citationsIn(CLAIMS)
    expect(cited.length).toBeGreaterThan(140)
    expect(cited.flatMap((citation) => citationProblem(citation) ?? [])).toEqual([])
  })
})
