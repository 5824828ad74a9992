import { describe, expect, test } from 'vitest'
import { isLinear, patternFaults, patternSources, patternsOf } from './check-patterns.ts'

const faultsOf = (text: string, path = 'shared/x.ts') => patternFaults(new Map([[path, text]]))

describe('the check of patterns', () => {
  test('reads the product, its tools and its client', () => {
    const sources = patternSources()
    expect(sources.size).toBeGreaterThan(800)
    expect([...sources.keys()].some((path) => path.startsWith('clients/typescript/src/'))).toBe(true)
    expect([...sources].flatMap(([path, text]) => patternsOf(path, text)).length).toBeGreaterThan(350)
  })

  // Guarantee: the check reports what it is there for.
  test.each([
    ['a literal', 'const contact = /^[^@]+@[^@.]+.[^@]+$|^(a+)+$/'],
    ['a search without an anchor', "text.replace(/ +$/, '')"],
    ['a text that is built into a pattern', "new RegExp('^(a+)+$')"],
    ['a text that is compiled on the way', "text.match('(a+)+$')"],
    ['a whole text in a template', 'RegExp(`^(a+)+$`)'],
    ['a schema', 'z.string().max(9).regex(/^(a|a)*$/)'],
  ])('reports %s that needs more than linear time', (_, text) => {
    expect(faultsOf(text)).toEqual([expect.stringContaining('shared/x.ts:1 needs more than linear time')])
  })

  test.each([
    ['computed text', 'new RegExp(words.join("|"))'],
    ['a template with a hole', 'new RegExp(`^$' + '{word}+$`)'],
    ['computed flags', "new RegExp('a+', flags)"],
  ])('reports a pattern that it cannot read: %s', (_, text) => {
    expect(faultsOf(text)).toEqual(['shared/x.ts:1 builds a pattern that cannot be checked'])
    expect(faultsOf(text, 'dev/check-words.ts')).toEqual([])
  })

  test('passes linear ones, in comments and texts too', () => {
    expect(faultsOf("/^[a-z]+$/.test(text) // (a+)+$\nconst words = '/(a+)+$/'\nurl.search === '?a'")).toEqual([])
    expect([isLinear('^[0-9a-f]{64}$', ''), isLinear('(?<!0)0+$', ''), isLinear('0+$', '')]).toEqual([
      true,
      true,
      false,
    ])
  })
})
