import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { lockDataDir } from './data-lock.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'paymesh-lock-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

// Guards money: two starts never run stores on one folder.
it('refuses a second start until the first has released it', () => {
  const release = lockDataDir(dir)
  expect(() => lockDataDir(dir)).toThrow(`process ${process.pid}`)
  release()
  expect(() => lockDataDir(dir)()).not.toThrow()
})

it('is not held by a process that is gone, or by another one that got its id', () => {
  const file = join(dir, 'start.lock')
  writeFileSync(file, JSON.stringify({ pid: 2 ** 22 + 1, startedAt: '1' }))
  expect(() => lockDataDir(dir)()).not.toThrow()
  writeFileSync(file, JSON.stringify({ pid: process.ppid, startedAt: 'another time' }))
  expect(() => lockDataDir(dir)()).not.toThrow()
  writeFileSync(file, 'half a fi')
  expect(() => lockDataDir(dir)()).not.toThrow()
})
