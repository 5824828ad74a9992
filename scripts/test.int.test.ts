import { execFileSync, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { ROOT } from '#scripts/bundle.mjs'
import { deepTest } from '#test/support/depth.ts'

/** Command lines of all processes whose environment has this mark, which every process that the runner starts inherits. */
function marked(mark: string): readonly string[] {
  const table = execFileSync('ps', ['axeww', '-o', 'pid=,command='], { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
  return table.split('\n').filter((line) => line.includes(mark))
}

/** What runs in the middle of it: a store, a chain node, the demo and a worker of the unit tests. */
const STARTED = ['mongod --dbpath', 'anvil --host', 'scripts/demo.mjs', 'vitest/dist/workers']

/** Starts the real runner, signals it alone once everything runs, and resolves with its exit status when none of its processes is left. */
async function signalInTheMiddle(signal: NodeJS.Signals): Promise<number | null> {
  const mark = `PAYMESH_MARK=${randomUUID()}`
  const runner = spawn(process.execPath, ['scripts/test.mjs', '--no-install', '--only', 'demo,unit'], {
    cwd: ROOT,
    detached: true,
    stdio: 'ignore',
    env: { ...process.env, PAYMESH_MARK: mark.split('=')[1] },
  })
  const ended = once(runner, 'exit')
  while (!STARTED.every((part) => marked(mark).some((line) => line.includes(part)))) {
    if (runner.exitCode !== null) throw new Error(`the runner ended with ${runner.exitCode} before it was signalled`)
    await delay(50)
  }
  runner.kill(signal)
  const [status] = await ended
  while (marked(mark).length > 0) await delay(50)
  return status
}

// Guarantee: whoever ends the tests, in whatever way, finds the machine as it was.
it('Ctrl-C to the runner alone leaves no process', async () => {
  expect(await signalInTheMiddle('SIGINT')).toBe(130)
})

deepTest('SIGTERM to the runner alone leaves no process', async () => {
  expect(await signalInTheMiddle('SIGTERM')).toBe(130)
})

deepTest('SIGKILL of the runner leaves no process', async () => {
  expect(await signalInTheMiddle('SIGKILL')).toBe(null)
})
