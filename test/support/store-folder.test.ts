import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { removeAbandoned } from './store-folder.ts'

/** The id of a process that has ended. */
async function endedPid(): Promise<number> {
  const child = spawn(process.execPath, ['-e', ''])
  await once(child, 'exit')
  return child.pid ?? expect.fail('no process')
}

it('removes what a killed run left in memory, and nothing of a run that goes on or of anybody else', async () => {
  const parent = mkdtempSync(join(tmpdir(), 'paymesh-abandoned-'))
  const ended = await endedPid()
  const kept = [`kind-${process.pid}-aaaaaa`, 'kind-1-aaaaaa', `other-${ended}-aaaaaa`, 'kind-abcdef', 'kind']
  for (const name of [...kept, `kind-${ended}-aaaaaa`, `kind-${ended}-bbbbbb`]) {
    mkdirSync(join(parent, name))
    writeFileSync(join(parent, name, 'data'), 'x')
  }
  removeAbandoned(parent, 'kind', (process.getuid?.() ?? 0) + 1)
  expect(readdirSync(parent)).toHaveLength(kept.length + 2)
  removeAbandoned(parent, 'kind')
  expect(readdirSync(parent).toSorted()).toEqual(kept.toSorted())
  rmSync(parent, { recursive: true })
})
