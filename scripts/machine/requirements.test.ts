import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { onPath } from '#dev/embedded/binary-cache.ts'
import { ROOT } from '../bundle.mjs'
import { bringRequirements, describeMissing } from './requirements.ts'

let bin: string
beforeEach(() => {
  bin = mkdtempSync(join(tmpdir(), 'paymesh-bin-'))
  for (const name of ['sh', 'nice', 'chrt']) symlinkSync(onPath(name) ?? name, join(bin, name))
})
afterEach(() => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
  rmSync(bin, { recursive: true, force: true })
})

/** A program of the machine that does what this line of shell says. */
function provide(name: string, line: string): void {
  writeFileSync(join(bin, name), `#!/bin/sh\n${line}\n`)
  chmodSync(join(bin, name), 0o755)
}

/** The tests on a machine that has these programs and no other. */
const runTests = (...args: readonly string[]) =>
  spawnSync(process.execPath, ['scripts/test.mjs', ...args], {
    cwd: ROOT,
    encoding: 'utf8',
    env: { PATH: bin, HOME: bin, XDG_CACHE_HOME: bin },
  })

// Guarantee: what could not run has failed and is named; a skip is never a pass.
it('leaves out what lacks something, prints one command and fails', () => {
  provide('apt-get', 'exit 0')
  const { status, stdout } = runTests('--no-install', '--only', 'browser,demo')
  expect(status).toBe(1)
  expect(stdout).toMatch(/^Missing: mongod, redis-server, chromium, litecoind, promtool, /m)
  expect(stdout).toMatch(/^ {2}.*apt-get update && apt-get install -y --no-install-recommends libcurl4 python3-pip /m)
  for (const name of ['browser', 'demo']) expect(stdout).toContain(`  ${name}: left out\n`)
  expect(stdout).toMatch(/\n0 passed, \d+ failed\n$/)
})

it('installs as root what is missing, says so, and looks again', async () => {
  const log = join(bin, 'log')
  provide(
    'apt-get',
    `echo "$@" >> ${log}; [ "$1" = update ] || ${onPath('cp')} ${join(bin, 'apt-get')} ${join(bin, 'promtool')}`,
  )
  vi.stubEnv('PATH', bin)
  vi.spyOn(process, 'getuid').mockReturnValue(0)
  const said: string[] = []
  const options = { mayInstall: true, report: (line: string) => void said.push(line) }
  expect(await bringRequirements(['promtool'], options)).toBe(null)
  expect(said.at(-1)).toBe('Installing with apt-get: prometheus')
  said.length = 0
  expect(await bringRequirements(['promtool'], options)).toBe(null)
  expect(said).toEqual([])
})

it.each([
  ['an ordinary user', 1000, [], "su -c 'apt-get update && apt-get install -y --no-install-recommends haproxy'"],
  [
    'one who may use sudo',
    1000,
    ['sudo'],
    "sudo sh -c 'apt-get update && apt-get install -y --no-install-recommends haproxy'",
  ],
  ['root with --no-install', 0, [], 'apt-get update && apt-get install -y --no-install-recommends haproxy'],
] as const)('prints for %s the one command, and changes nothing', async (_who, uid, programs, command) => {
  for (const name of ['apt-get', ...programs]) provide(name, `[ "$2" = -s ] || touch ${join(bin, 'haproxy')}`)
  vi.stubEnv('PATH', bin)
  vi.spyOn(process, 'getuid').mockReturnValue(uid)
  const missing = await bringRequirements(['haproxy'], { mayInstall: uid !== 0, report: () => {} })
  expect(missing === null ? '' : describeMissing(missing)).toBe(`Missing: haproxy. This brings it:\n  ${command}\n`)
})

it('takes the alternative that the distribution has', async () => {
  provide('apt-get', '[ "$3" = chromium ]')
  vi.stubEnv('PATH', bin)
  const missing = await bringRequirements(['chromium'], { mayInstall: false, report: () => {} })
  expect(missing?.command).toMatch(/ chromium'?$/)
  expect([...(missing?.stages ?? [])]).toEqual(['browser'])
})
