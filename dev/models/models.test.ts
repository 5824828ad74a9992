import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT } from '#scripts/bundle.mjs'
import { type Model, mistakesOf, readModels } from './configurations.ts'
import { brokenRule, configurationOf } from './tlc-text.ts'

const FOLDER = join(ROOT, 'docs/models')
const models = readModels(FOLDER)
const text = (name: string) => readFileSync(join(FOLDER, `${name}.tla`), 'utf8')

const model: Model = {
  constants: { W: '{w1}', Mistakes: '{}' },
  symmetry: 'Sym',
  invariants: ['NoLostEvent'],
  properties: ['FinalStays'],
  liveness: ['Settled', 'OwedIsServed'],
  runs: [],
}
const good = { name: 'good', is: 'a run' }

it('every module of the folder has runs', () => {
  const modules = readdirSync(FOLDER).flatMap((file) => /^(\w+)\.tla$/.exec(file)?.[1] ?? [])
  expect(modules.length).toBeGreaterThan(1)
  expect(Object.keys(models).sort()).toEqual(modules.sort())
})

describe.each(Object.entries(models))('%s', (name, { runs, ...rules }) => {
  // Guarantee: a rule that no planted mistake can break proves nothing, and a mistake that is not planted is not looked for.
  it('plants every mistake that the module names, and no other', () => {
    const planted = new Set(runs.flatMap(mistakesOf))
    const named = new Set([...text(name).matchAll(/Planted\("([a-z-]+)"\)/g)].map(([, mistake]) => mistake))
    expect([...planted].sort()).toEqual([...named].sort())
  })

  it('has a run for safety and one for liveness that must hold, and names rules that exist', () => {
    const holds = runs.filter(({ finds }) => finds === undefined)
    expect(new Set(holds.map(({ live = false }) => live))).toEqual(new Set([false, true]))
    const known = [...rules.invariants, ...rules.properties, ...rules.liveness]
    for (const rule of known) expect(text(name)).toMatch(new RegExp(`^${rule} ==`, 'm'))
    for (const { finds } of runs) if (finds !== undefined) expect(known).toContain(finds)
    expect(new Set(runs.map((run) => run.name)).size).toBe(runs.length)
  })

  it('is described in the README', () => {
    const readme = readFileSync(join(FOLDER, 'README.md'), 'utf8')
    expect(readme).toContain(`\`${name}.tla\``)
    for (const rule of [...rules.invariants, ...rules.properties, ...rules.liveness])
      expect(readme).toContain(`\`${rule}\``)
  })
})

describe('configurationOf', () => {
  it('gives symmetry up for liveness', () => {
    expect(configurationOf(model, good)).toContain(
      'SPECIFICATION Spec\nSYMMETRY Sym\nINVARIANTS NoLostEvent\nPROPERTIES FinalStays\n',
    )
    const live = configurationOf(model, { ...good, live: true })
    expect(live).toContain(
      'SPECIFICATION FairSpec\nINVARIANTS NoLostEvent\nPROPERTIES FinalStays Settled OwedIsServed\n',
    )
  })

  it('plants mistakes by name and asks for one temporal property only', () => {
    const planted = configurationOf(model, { name: 'no-lease', is: 'x', finds: 'Settled', with: ['seen-kept'] })
    expect(planted).toContain('  Mistakes = {"no-lease", "seen-kept"}\n')
    expect(planted).toContain('PROPERTIES Settled\n')
  })
})

describe('brokenRule', () => {
  it.each([
    ['Error: Invariant NoLostEvent is violated.', undefined, 'NoLostEvent'],
    ['Error: Action property FinalStays is violated.', undefined, 'FinalStays'],
    ['Error: Temporal properties were violated.', 'Settled', 'Settled'],
    ['Error: Temporal properties were violated.', undefined, 'Settled or OwedIsServed'],
    ['Model checking completed. No error has been found.', undefined, null],
    ['Error: Parsing or semantic analysis failed.', undefined, undefined],
    ['', 'Settled', undefined],
  ])('reads %j', (line, finds, broken) => {
    expect(brokenRule(`TLC2\n${line}\n`, model, { ...good, ...(finds !== undefined && { finds }) })).toBe(broken)
  })
})
