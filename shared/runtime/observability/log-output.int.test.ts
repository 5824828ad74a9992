import { spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'paymesh-log-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Logs ten lines, one a turn, and ends. */
const PROGRAM = `
  const { createLogger } = await import('#shared/runtime/observability/logger.ts')
  const logger = createLogger({ name: 'api', level: 'info' })
  for (let turns = 0; turns < 10; turns += 1) {
    logger.info({ turns }, 'line')
    await new Promise((resolve) => setImmediate(resolve))
  }
  process.stderr.write('alive')
  process.exit(0)
`

function runWithOutput(path: string) {
  const output = openSync(path, 'w')
  const { status, signal, stderr } = spawnSync(
    process.execPath,
    ['--import', 'tsx', '--input-type=module', '-e', PROGRAM],
    { stdio: ['ignore', output, 'pipe'], encoding: 'utf8', timeout: 60_000, killSignal: 'SIGKILL' },
  )
  closeSync(output)
  return { status, signal, stderr }
}

// Guarantee: a full disk under the log stops no process; deadlines, webhooks and payments go on without their lines. Linux: full(4).
it('goes on and ends as usual while its output fails', () => {
  expect(runWithOutput('/dev/full')).toEqual({ status: 0, signal: null, stderr: 'alive' })
})

// A process that ends while a line is being written is the usual case: the last lines say why it ended.
it.each([1, 2, 3, 4])('has written every line, once and in order, when the process ends (run %i)', () => {
  const file = join(folder, 'log')
  expect(runWithOutput(file)).toMatchObject({ status: 0 })
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
  expect(lines.map((line) => (JSON.parse(line) as { turns: number }).turns)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
})
