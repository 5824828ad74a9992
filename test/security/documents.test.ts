import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

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
