import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { expect, it } from 'vitest'
import { lives } from '#test/support/lives.ts'
import { startGuarded } from './guarded-child.ts'

const idle = ['-e', 'setInterval(() => {}, 60_000)']

it('ends a child that runs, one that is stopped, and one that will not listen', async () => {
  const plain = await startGuarded(process.execPath, idle, { stdio: 'ignore' })
  await plain.stop(5_000)
  expect(await plain.exited).toEqual({ code: null, signal: 'SIGTERM' })
  expect(plain.kill('SIGTERM')).toBe(false)

  const stopped = await startGuarded(process.execPath, idle, { stdio: 'ignore' })
  stopped.kill('SIGSTOP')
  await stopped.stop(5_000)
  expect(stopped.hasExited()).toBe(true)

  const dir = mkdtempSync(join(tmpdir(), 'paymesh-guard-'))
  const script = "trap '' TERM; touch deaf; while :; do sleep 0.05; done"
  const deaf = await startGuarded('/bin/sh', ['-c', script], { cwd: dir, stdio: 'ignore' })
  while (!existsSync(join(dir, 'deaf'))) await delay(10)
  await deaf.stop(50)
  expect(await deaf.exited).toEqual({ code: null, signal: 'SIGKILL' })
  rmSync(dir, { recursive: true })
})

it('says when the program cannot be started', async () => {
  await expect(startGuarded('/no/such/program', [], { stdio: 'ignore' })).rejects.toThrow('ENOENT')
})

it('ends the child when the one who started it is killed', async () => {
  const module = pathToFileURL(join(import.meta.dirname, 'guarded-child.ts')).href
  const script = `const { startGuarded } = await import('${module}')
    const child = await startGuarded(process.execPath, ${JSON.stringify(idle)}, { stdio: 'ignore' })
    process.stdout.write(String(child.pid) + '\\n')
    setInterval(() => {}, 60_000)`
  const parent = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(parent.stdout, 'data')
  const pid = Number(line)
  expect(lives(pid)).toBe(true)
  parent.kill('SIGKILL')
  while (lives(pid)) await delay(20)
})
