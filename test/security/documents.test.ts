import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { citationProblem, citationsIn } from '#test/support/citations.ts'

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

it('judges each requirement once, in words of the legend, and says why where it is not met', () => {
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

/** Rows that an attack showed to be wrong once: they name their tests by title. */
const BY_TITLE: Readonly<Record<string, readonly string[]>> = {
  'THREATS.md': ['1', '8', '16', '16a', '19', '26'],
  'asvs.md': [
    ...['2.3.2', '2.4.1', '3.2.1, 3.2.2', '3.4.1', '3.4.4', '6.3.1', '6.3.3'],
    ...['8.2.2, 8.4.1', '13.4.2', '14.2.1', '16.3.1, 16.3.2', '16.3.3, 16.3.4'],
  ],
}

// Guarantee: what these documents say is shown by a test that exists under the name that they give.
it.each(documents)('%s cites tests whose titles exist', (_name, text) => {
  expect(citationsIn(text).flatMap((citation) => citationProblem(citation) ?? [])).toEqual([])
})

it.each(Object.entries(BY_TITLE))('%s names the tests of rows that were wrong once by their titles', (name, ids) => {
  const text = documents.find(([document]) => document === name)?.[1] ?? ''
  for (const id of ids) {
    const row = text.split('\n').find((line) => line.startsWith(`| ${id} |`)) ?? ''
    expect(citationsIn(row).length, id).toBeGreaterThan(0)
    expect(row.split('.test.ts`').length - 1, id).toBe(citationsIn(row).length)
  }
})
