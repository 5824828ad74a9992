import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { FIELDS } from './fields.ts'

const program = `
  const { loadConfig } = await import('./shared/config/load.ts')
  const { execFileSync } = await import('node:child_process')
  const { config, unused } = loadConfig('checkout')
  const report = process.report.getReport()
  const child = execFileSync(process.execPath, ['-e', 'process.stdout.write(JSON.stringify(process.env))'], { encoding: 'utf8' })
  const seen = [JSON.stringify(process.env), JSON.stringify(report.environmentVariables), child]
  process.stdout.write(JSON.stringify({ mongoUrl: config.stores.mongoUrl, unused, seen }))
`

const run = (env: Readonly<Record<string, string>>) =>
  JSON.parse(
    execFileSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program], {
      env: { PATH: process.env['PATH'] ?? '', ...env },
      encoding: 'utf8',
    }),
  ) as { mongoUrl: string; unused: string[]; seen: string[] }

// Guarantee: once a process has read its settings, neither its children nor a diagnostic report show a secret.
it('takes every secret out of the environment, and names those of other processes', () => {
  const secrets = {
    MONGO_URL: 'mongodb://user:mongo-password@db/',
    REDIS_URL: 'redis://:redis-password@redis',
    PAYMESH_MASTER_KEY: 'bWFzdGVyLW1hc3Rlci1tYXN0ZXItbWFzdGVyLW1hc3Q=',
    PAYMESH_MASTER_KEYS_OLD: 'b2xkLW9sZC1vbGQtb2xkLW9sZC1vbGQtb2xkLW9sZC0=',
    PAYMESH_KEY_PEPPER: 'cGVwcGVyLXBlcHBlci1wZXBwZXItcGVwcGVyLXBlcHA=',
    PAYMESH_NETWORKS: '{"live":{"ethereum":{"rpcUrls":["https://node.example.com/an-access-token"]}}}',
    PAYMESH_SMTP_URL: 'smtps://user:mail-password@mail.example.com',
  }
  const { mongoUrl, unused, seen } = run({ ...secrets, PAYMESH_LOG_LEVEL: 'warn' })
  expect(mongoUrl).toBe(secrets.MONGO_URL)
  expect(unused).toEqual(['PAYMESH_MASTER_KEY', 'PAYMESH_MASTER_KEYS_OLD', 'PAYMESH_KEY_PEPPER', 'PAYMESH_SMTP_URL'])
  expect(seen).toHaveLength(3)
  for (const text of seen) {
    expect(text).toContain('PAYMESH_LOG_LEVEL')
    for (const [name, value] of Object.entries(secrets)) {
      expect(text).not.toContain(name)
      expect(text).not.toContain(value)
    }
  }
})

it('takes them out of the environment when the settings are faulty as well', () => {
  const faulty = `
    const { loadConfig } = await import('./shared/config/load.ts')
    try { loadConfig('api') } catch (error) { process.stdout.write(error.name + JSON.stringify(process.env)) }
  `
  const text = execFileSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', faulty], {
    env: { PATH: process.env['PATH'] ?? '', PAYMESH_KEY_PEPPER: FIELDS.PAYMESH_KEY_PEPPER.example },
    encoding: 'utf8',
  })
  expect(text).toMatch(/^ConfigError/)
  expect(text).not.toContain(FIELDS.PAYMESH_KEY_PEPPER.example)
})
