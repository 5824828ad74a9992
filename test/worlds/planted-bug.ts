import { resolve } from 'node:path'
import { planted } from '#test/simulation/mutants/mutant.ts'
import { WORLD_MUTANTS } from './world-mutants.ts'

const ROOT = resolve(import.meta.dirname, '../..')

/** Plugins for a test run in which the bug that WORLD_MUTANT names is planted; none without a name. Throws for an unknown one. */
export function plantedBug() {
  const name = process.env['WORLD_MUTANT']
  if (name === undefined) return []
  const mutant = WORLD_MUTANTS.find((one) => one.name === name)
  if (mutant === undefined) throw new Error(`no bug is called ${name}`)
  const target = resolve(ROOT, mutant.file)
  return [
    {
      // Vitest keeps transformed modules on disk by the names of plugins.
      name: `planted bug ${mutant.name}: ${mutant.replace}`,
      enforce: 'pre' as const,
      transform: (_: string, id: string) => (id === target ? planted(mutant) : undefined),
    },
  ]
}
