import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import {
  environmentFor,
  givenSettings,
  keepSecrets,
  readEnvironment,
  removeEnvironment,
  writeEnvironment,
} from './environment.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'paymesh-env-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

// Guards access: sealed secrets and API keys of an installation stay readable over restarts, and only for this user.
it('makes secrets once, 32 bytes each, in a file that only this user can read', () => {
  const secrets = keepSecrets(dir)
  expect(keepSecrets(dir)).toEqual(secrets)
  const lengths = Object.values(secrets).map((text) => Buffer.from(text, 'base64').length)
  expect(lengths).toEqual([32, 32])
  expect(secrets['PAYMESH_MASTER_KEY']).not.toBe(secrets['PAYMESH_KEY_PEPPER'])
  expect(statSync(join(dir, 'secrets.json')).mode & 0o777).toBe(0o600)
})

it('keeps the environment while the services run', () => {
  expect(readEnvironment(dir)).toBeNull()
  writeEnvironment(dir, { PAYMESH_ENV: 'development' })
  expect(readEnvironment(dir)).toEqual({ PAYMESH_ENV: 'development' })
  removeEnvironment(dir)
  expect(readEnvironment(dir)).toBeNull()
})

// Guarantee: a process that `npm start` starts is not given the secrets of another.
it('gives a process its own settings, a misspelt one included, and refuses a process that declares none', () => {
  const all = { MONGO_URL: 'mongodb://x', PAYMESH_MASTER_KEY: 'a', PAYMESH_KEY_PEPPER: 'b', PAYMESH_LOG_LEVL: 'debug' }
  expect(environmentFor('checkout', all)).toEqual({ MONGO_URL: 'mongodb://x', PAYMESH_LOG_LEVL: 'debug' })
  expect(environmentFor('api', all)).toEqual(all)
  expect(() => environmentFor('toaster', all)).toThrow('no settings are declared for a process toaster')
})

it('passes on what is ours, a misspelt setting included, so that it is refused and not lost', () => {
  const given = givenSettings({ PATH: '/bin', MONGO_URL: 'mongodb://x', PAYMESH_LOG_LEVL: 'debug', REDIS_URL: '' })
  expect(given).toEqual({ MONGO_URL: 'mongodb://x', PAYMESH_LOG_LEVL: 'debug' })
})
