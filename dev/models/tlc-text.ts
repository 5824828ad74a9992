import { type Model, type ModelRun, mistakesOf } from './configurations.ts'

/** TLC's configuration file for one run. Symmetry, which is sound only for safety, is left out where liveness is checked. */
export function configurationOf(model: Model, run: ModelRun): string {
  const mistakes = mistakesOf(run).map((name) => `"${name}"`)
  const constants = { ...model.constants, ...run.constants, Mistakes: `{${mistakes.join(', ')}}` }
  const sought = model.liveness.filter((property) => property === run.finds)
  const isLive = run.live === true || sought.length > 0
  // TLC does not name the broken temporal property, so only the expected one is configured.
  const properties = sought.length > 0 ? sought : [...model.properties, ...(isLive ? model.liveness : [])]
  return [
    `\\* ${run.is}`,
    'CONSTANTS',
    ...Object.entries(constants).map(([name, value]) => `  ${name} = ${value}`),
    `SPECIFICATION ${isLive ? 'FairSpec' : 'Spec'}`,
    ...(isLive || model.symmetry === undefined ? [] : [`SYMMETRY ${model.symmetry}`]),
    `INVARIANTS ${model.invariants.join(' ')}`,
    `PROPERTIES ${properties.join(' ')}`,
    '',
  ].join('\n')
}

/** The broken rule according to TLC's output, null without one, undefined when TLC did not check everything. */
export function brokenRule(output: string, model: Model, run: ModelRun): string | null | undefined {
  const [, broken] = /^Error: (?:Invariant|Action property) (\w+) is violated/m.exec(output) ?? []
  if (broken !== undefined) return broken
  if (/^Error: Temporal properties were violated/m.test(output)) {
    return model.liveness.find((property) => property === run.finds) ?? model.liveness.join(' or ')
  }
  return output.includes('Model checking completed. No error has been found.') ? null : undefined
}
