import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { freePort } from '#dev/embedded/free-port.ts'
import { type SupervisedProcess, superviseProcess } from './supervised-process.ts'

const READY_SERVER = `require('node:fs').appendFileSync(__dirname + '/started', process.pid + ' ')
require('node:http').createServer((q, r) => r.end('{}')).listen(process.env.PAYMESH_METRICS_PORT, '127.0.0.1')`

let dir: string
let log: number
let running: SupervisedProcess | undefined
const lines: string[] = []

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'paymesh-supervised-'))
  log = openSync(join(dir, 'log'), 'a')
  lines.length = 0
})
afterEach(async () => {
  await running?.stop()
  closeSync(log)
  rmSync(dir, { recursive: true, force: true })
})

async function supervise(keepAlive: boolean): Promise<SupervisedProcess> {
  const script = join(dir, 'server.cjs')
  writeFileSync(script, READY_SERVER)
  running = await superviseProcess({
    line: { name: 'worker', command: process.execPath, args: [script] },
    environment: {},
    metricsPort: await freePort(0),
    log,
    keepAlive,
    report: (line) => void lines.push(line),
    changed: () => {},
  })
  await running.ready()
  return running
}

it('starts a killed process again and says so', async () => {
  const worker = await supervise(true)
  const before = worker.pid()
  worker.kill('SIGKILL')
  while (worker.pid() === before || worker.pid() === null) await delay(20)
  await worker.ready()
  expect(lines).toEqual(['✗ worker ended (SIGKILL), restarting it'])
})

it('leaves a killed process dead when told so, until a restart', async () => {
  const worker = await supervise(false)
  const before = worker.pid()
  worker.kill('SIGKILL')
  while (worker.pid() !== null) await delay(20)
  await expect(worker.ready()).rejects.toThrow('did not become ready')
  await worker.restart()
  expect(worker.pid()).not.toBe(before)
  expect(lines).toEqual(['✗ worker ended (SIGKILL)'])
})

it('ends without a report, and nothing follows', async () => {
  const worker = await supervise(true)
  await worker.stop()
  expect(worker.pid()).toBeNull()
  expect(lines).toEqual([])
})

/** Of the processes that were started, those that still run. */
function alive(): number[] {
  const started = readFileSync(join(dir, 'started'), 'utf8').trim().split(' ').map(Number)
  return started.filter((pid) => {
    try {
      return process.kill(pid, 0)
    } catch {
      return false
    }
  })
}

// Two processes of one line would share its port, and the second one would fail for ever.
it('runs one process after restarts at the same time', async () => {
  const worker = await supervise(true)
  await Promise.all([worker.restart(), worker.restart(), worker.restart()])
  expect(alive()).toEqual([worker.pid()])
  expect(lines).toEqual([])
})

it('leaves no process behind when it is stopped during a restart', async () => {
  const worker = await supervise(true)
  const restarts = [worker.restart(), worker.restart()].map((restart) => restart.catch(String))
  await worker.stop()
  expect(alive()).toEqual([])
  expect(await Promise.all(restarts)).toEqual(Array(2).fill(expect.stringContaining('is being stopped')))
})
