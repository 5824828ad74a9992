import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'

afterEach(() => {
  vi.unstubAllEnvs()
  vi.resetModules()
})

/** The samples as `npm test` takes them, or as the stage `cases` does. */
async function depth(isDeep: boolean): Promise<typeof import('./depth.ts')> {
  vi.stubEnv('EVERY_CASE', isDeep ? '1' : '')
  vi.resetModules()
  return await import('./depth.ts')
}

const TABLE = [
  ['a', 1],
  ['b', 1],
  ['c', 2],
  ['d', 2],
  ['e', 3],
] as const

describe('a sample', () => {
  it('is spread over the table from its first to its last case, and is the same in each run', async () => {
    const { sampleOf } = await depth(false)
    expect(sampleOf(TABLE, 3).map(([name]) => name)).toEqual(['a', 'c', 'e'])
    expect(sampleOf(TABLE, 1).map(([name]) => name)).toEqual(['a'])
    expect(sampleOf(TABLE, 9)).toEqual(TABLE)
    for (let count = 1; count <= 60; count += 1) {
      const numbers = Array.from({ length: 57 }, (_, number) => number)
      expect(new Set(sampleOf(numbers, count)).size).toBe(Math.min(count, 57))
    }
  })

  it('has one case of each kind, or those that are named; a name without a case is an error', async () => {
    const { namedOf, oneOfEach } = await depth(false)
    expect(oneOfEach(TABLE, ([, kind]) => kind).map(([name]) => name)).toEqual(['a', 'c', 'e'])
    expect(namedOf(TABLE, 'b', 'e').map(([name]) => name)).toEqual(['b', 'e'])
    expect(() => namedOf(TABLE, 'f')).toThrow('no case is called f')
  })

  it('is the whole table in the stage `cases`, where slow stories are tests', async () => {
    const { deepTest, namedOf, oneOfEach, sampleOf } = await depth(true)
    for (const sample of [sampleOf(TABLE, 1), oneOfEach(TABLE, () => 1), namedOf(TABLE, 'a')])
      expect(sample).toEqual(TABLE)
    expect(deepTest).toHaveProperty('concurrent')
    expect((await depth(false)).deepTest).not.toHaveProperty('concurrent')
  })
})

const LEFT_OUT = /\b(deepTest|deepDescribe|sampleOf|oneOfEach|namedOf)\b/
const GUARDS = /Guards (money|data)|Guarantee: [^.]*\bmoney\b/

/** Lines at which a test file leaves out a part of what the comment above it says guards money or data, also within a group that waits. */
function leftOut(source: string): readonly number[] {
  const lines = source.split('\n')
  let groupIndent = Number.POSITIVE_INFINITY
  return lines.flatMap((line, at) => {
    const indent = line.search(/\S/)
    if (indent >= 0 && indent <= groupIndent) groupIndent = Number.POSITIVE_INFINITY
    if (/^\s*deepDescribe[.(]/.test(line)) groupIndent = Math.min(groupIndent, indent)
    const isDeclaration = /^\s*(it|test|describe|deepTest|deepDescribe)(\.(each|for))?[(<]/.test(line)
    const opening = lines.slice(at, at + 3).join('\n')
    const head = opening.slice(0, opening.search(/=> \{|$/))
    if (!isDeclaration || (indent <= groupIndent && !LEFT_OUT.test(head))) return []
    let first = at
    while (/^\s*\/\//.test(lines[first - 1] ?? '')) first -= 1
    return GUARDS.test(lines.slice(first, at).join(' ')) ? [at + 1] : []
  })
}

// Guarantee: what guards money or data is tested whole before each commit.
it('no test that guards money or data is sampled or left to the night', () => {
  expect(leftOut("// Guards money: once.\ndeepTest('x', () => {")).toEqual([2])
  expect(leftOut('// Guards money: once.\nit.each(\n  sampleOf(ALL, 2),')).toEqual([2])
  expect(leftOut("// Guarantee: a page is quick.\ndeepTest('x', () => {")).toEqual([])
  expect(leftOut("deepDescribe('x', () => {\n  // Guards data: once.\n  it('y', () => {\n  })\n})")).toEqual([3])
  expect(leftOut("deepDescribe('x', () => {\n})\n// Guards data: once.\nit('y', () => {\n})")).toEqual([])
  const files = ['services', 'shared', 'scripts', 'dev', 'test'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.test.ts') && !name.endsWith('depth.test.ts'))
      .map((name) => join(folder, name)),
  )
  expect(files.length).toBeGreaterThan(500)
  expect(files.filter((file) => file.includes('.deep.') && GUARDS.test(readFileSync(file, 'utf8')))).toEqual([])
  expect(files.flatMap((file) => leftOut(readFileSync(file, 'utf8')).map((line) => `${file}:${line}`))).toEqual([])
})
