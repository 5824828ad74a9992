import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { parse } from 'yaml'
import { deployPath, deployYaml } from './deploy-files.ts'

const folder = mkdtempSync(join(tmpdir(), 'paymesh-alertmanager-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** What the container writes before it starts Alertmanager. */
function configured(smtpUrl: string, more: Readonly<Record<string, string>> = {}) {
  const given = {
    SMTP_URL: smtpUrl,
    MAIL_FROM: 'Paymesh <pay@example.com>',
    ALERT_MAIL_TO: 'a@example.com, b@example.com',
  }
  const env = { PATH: process.env['PATH'], ...given, CONFIG_DIR: folder, CHECK_ONLY: '1', ...more }
  const { status, stderr } = spawnSync('sh', [deployPath('compose', 'alertmanager.sh')], { env, encoding: 'utf8' })
  return { status, stderr, config: () => parse(readFileSync(join(folder, 'alertmanager.yml'), 'utf8')) }
}

// Guarantee: alerts go out over the mail server that Paymesh uses, whatever its URL looks like, and never with credentials in the clear.
it.each([
  ['smtps://user:pass@smtp.example.com:465', 'smtp.example.com:465', false, 'user', 'pass'],
  ['smtps://user:pass@smtp.example.com', 'smtp.example.com:465', false, 'user', 'pass'],
  ['smtp://user:pass@smtp.example.com', 'smtp.example.com:587', true, 'user', 'pass'],
  ["smtp://a%40b.com:p%3A%2F%25'%22%23@[2001:db8::1]:2525/?x=y", '[2001:db8::1]:2525', true, 'a@b.com', 'p:/%\'"#'],
  ['smtp://relay:25', 'relay:25', false, undefined, undefined],
])('mails over %s', (url, smarthost, requireTls, user, password) => {
  const { status, stderr, config } = configured(url)
  expect([status, stderr]).toEqual([0, ''])
  const { global, receivers, route } = config()
  expect(global).toEqual({
    smtp_smarthost: smarthost,
    smtp_from: 'Paymesh <pay@example.com>',
    smtp_require_tls: requireTls,
    ...(user !== undefined && { smtp_auth_username: user, smtp_auth_password: password }),
  })
  expect(receivers).toEqual([
    { name: 'operators', email_configs: [{ to: 'a@example.com, b@example.com', send_resolved: true }] },
  ])
  expect([route.receiver, ...route.routes.map((one: { receiver: string }) => one.receiver)]).toEqual([
    'operators',
    'operators',
  ])
})

it.each([
  ['', {}, 'set PAYMESH_SMTP_URL in .env'],
  ['smtps://smtp.example.com:2465', {}, 'on port 465 only'],
  ['smtp://user:pass@smtp.example.com:465', {}, 'port 465 is smtps://'],
  ['smtp://relay', { ALERT_MAIL_TO: '' }, 'set ALERT_MAIL_TO in .env'],
  ['smtp://relay', { MAIL_FROM: '' }, 'set PAYMESH_MAIL_FROM in .env'],
])('says what is missing for %j and %j', (url, more, said) => {
  const { status, stderr } = configured(url, more)
  expect(status).toBe(1)
  expect(stderr).toContain(said)
})

it('is where Prometheus sends alerts, and is given what it reads', () => {
  const { services } = deployYaml('compose', 'compose.yaml')
  expect(services.alertmanager).toMatchObject({ profiles: ['watch'], entrypoint: ['sh', '/alertmanager.sh'] })
  expect(Object.keys(services.alertmanager.environment)).toEqual(['SMTP_URL', 'MAIL_FROM', 'ALERT_MAIL_TO'])
  const { alerting } = deployYaml('prometheus', 'prometheus.yml')
  expect(alerting.alertmanagers[0].static_configs[0].targets).toEqual(['alertmanager:9093'])
  const mounts: readonly string[] = services.prometheus.volumes
  for (const file of deployYaml('prometheus', 'prometheus.yml').rule_files)
    expect(mounts).toContain(`../prometheus/${file}:/etc/prometheus/${file}:ro`)
  expect(services.prometheus.networks.filter((one: string) => services.alertmanager.networks.includes(one))).toEqual([
    'backend',
  ])
  expect(services.prometheus.networks.filter((one: string) => services.caddy.networks.includes(one))).toEqual(['edge'])
})
