import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { absenceFromEveryRun, citationProblem, citationsIn } from '#test/support/citations.ts'

const ROOT = join(import.meta.dirname, '../..')
const FOLDER = join(ROOT, 'docs/security')
const documents = readdirSync(FOLDER).map((name) => [name, readFileSync(join(FOLDER, name), 'utf8')] as const)
const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: Record<string, string> }

it.each(documents)('%s names tests, scripts and files that exist', (_name, text) => {
  const named = [...text.matchAll(/`([\w./-]+\.test\.ts)`/g)].map(([, path = '']) => path)
  const linked = [...text.matchAll(/\]\(([^)#:]+)\)/g)].map(([, path = '']) => join('docs/security', path))
  expect([...named, ...linked].filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
  const run = [...text.matchAll(/`npm run ([\w:]+)/g)].map(([, name = '']) => name)
  expect(run.filter((name) => scripts[name] === undefined)).toEqual([])
})

it('checks each requirement once, in words of the legend, and says why where it is not met', () => {
  const rows = (documents.find(([name]) => name === 'asvs.md')?.[1] ?? '')
    .split('\n')
    .filter((line) => /^\| \d/.test(line))
    .map((line) => line.split('|').map((cell) => cell.trim()))
  const ids = rows.flatMap((row) => (row[1] ?? '').replaceAll(' (L3)', '').split(', '))
  expect(new Set(ids).size).toBe(ids.length)
  for (const [, id, verdict, how] of rows) {
    expect(['yes', 'part', 'no', 'n/a'], id).toContain(verdict)
    if (verdict !== 'yes') expect(how?.length, id).toBeGreaterThan(10)
  }
})

/** The rows of a document, as `| id | … |` lines. */
const rowsOf = (text: string) => text.split('\n').filter((line) => /^\| \d/.test(line))

// Guarantee: what these documents say is shown by a test that exists under the name that they give.
it.each(documents)('%s cites tests whose titles exist', (_name, text) => {
  const problems = citationsIn(text).map((citation) => citationProblem(citation) ?? absenceFromEveryRun(citation))
  expect(problems.filter((problem) => problem !== null)).toEqual([])
})

it.each(['THREATS.md', 'asvs.md'])('%s names the tests of its rows by their titles', (name) => {
  const rows = rowsOf(documents.find(([document]) => document === name)?.[1] ?? '')
  expect(rows.length).toBeGreaterThan(30)
  for (const row of rows) expect(row.split('.test.ts`').length - 1, row.slice(0, 40)).toBe(citationsIn(row).length)
  const ids = rows.map((row) => row.split('|')[1])
  expect(
    ids.filter((id, index) => ids.indexOf(id) !== index),
    'rows that stand twice',
  ).toEqual([])
})
