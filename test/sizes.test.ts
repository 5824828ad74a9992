import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { absenceFromEveryRun, citationProblem, citationsIn } from '#test/support/citations.ts'

const DOCUMENT = 'docs/security/sizes.md'
const FAMILIES = ['all', 'Bitcoin-like', 'Solana', 'TRON', 'EVM']

interface Row {
  readonly family: string
  readonly enforced: string
  readonly shown: string
}

const rows = readFileSync(DOCUMENT, 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| family'))
  .map((line): Row => {
    const [, family = '', , , enforced = '', shown = ''] = line.split('|').map((cell) => cell.trim())
    return { family, enforced, shown }
  })

/** Why a bound is not the one that the code has; null when its constant stands there with this value. */
function boundProblem(file: string, statement: string): string | null {
  const lines = readFileSync(file, 'utf8').split('\n')
  const isThere = lines.some((line) => line.replace(/^export /, '') === `const ${statement}`)
  return isThere ? null : `${file} has no ${statement}`
}

it('every size that a stranger chooses has the bound that the code enforces, for each family', () => {
  expect([...new Set(rows.map(({ family }) => family))].sort()).toEqual([...FAMILIES].sort())
  const problems = rows.flatMap(({ enforced }) => {
    const bounds = [...enforced.matchAll(/`([^`]+\.ts)` `([^`]+)`/g)]
    if (bounds.length === 0) return [`no bound in ${enforced}`]
    return bounds.flatMap(([, file = '', statement = '']) => boundProblem(file, statement) ?? [])
  })
  expect(problems).toEqual([])
})

it('every bound is shown by a test that npm test runs', () => {
  const problems = rows.flatMap(({ shown, enforced }) => {
    const citations = citationsIn(shown)
    if (citations.length === 0) return [`no test for ${enforced}`]
    return citations.flatMap((citation) => citationProblem(citation) ?? absenceFromEveryRun(citation) ?? [])
  })
  expect(problems).toEqual([])
})

it('another number than that of the code is noticed', () => {
  expect(boundProblem('shared/domain/invoice/fold.ts', 'ROWS_MAX = 101')).toMatch('has no ROWS_MAX = 101')
})
