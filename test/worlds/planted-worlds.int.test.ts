import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { expect, it } from 'vitest'
import { planted } from '#test/simulation/mutants/mutant.ts'
import { deepTest } from '#test/support/depth.ts'
import { WORLD_MUTANTS } from './world-mutants.ts'

const ROOT = resolve(import.meta.dirname, '../..')
/** Histories that may pass before a bug counts as not found. */
const HISTORIES = 60
const RUN = ['run', '--project', 'integration', 'test/worlds/random-worlds.int.test.ts', '-t', 'at 1 times']

/** What a run of histories prints that has this bug, and whether it failed. */
async function runWith(mutant: string): Promise<{ readonly failed: boolean; readonly output: string }> {
  const env = { ...process.env, WORLD_MUTANT: mutant, WORLD_RUNS: String(HISTORIES), NO_COLOR: '1' }
  const child = spawn(process.execPath, ['node_modules/vitest/vitest.mjs', ...RUN], { cwd: ROOT, env })
  const chunks: string[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => chunks.push(String(chunk)))
  const [code] = await once(child, 'close')
  return { failed: code !== 0, output: chunks.join('') }
}

it('every bug can be planted', () => {
  for (const mutant of WORLD_MUTANTS) expect(planted(mutant)).toContain(mutant.replace)
  expect(new Set(WORLD_MUTANTS.map(({ name }) => name)).size).toBe(WORLD_MUTANTS.length)
})

// Guarantee: each bug of reading accounts is found by random histories.
deepTest.each(WORLD_MUTANTS.map((mutant) => [mutant.name, mutant] as const))(
  'histories find %s',
  { timeout: 900_000 },
  async (name) => {
    const { failed, output } = await runWith(name)
    expect(output).toContain('Property failed')
    expect(failed).toBe(true)
  },
)
