import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ROOT } from '#scripts/bundle.mjs'
import { FIELDS } from '#shared/config/fields.ts'
import { deployFiles, deployText } from './deploy-files.ts'

const dockerfile = deployText('Dockerfile')
const lines = dockerfile.split('\n').filter((line) => !line.startsWith('#'))
const final = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '))

it('builds in one stage and runs in another, as nobody, with a health check', () => {
  expect(lines.filter((line) => line.startsWith('FROM '))).toHaveLength(2)
  expect(dockerfile).toMatch(/^RUN npm ci --ignore-scripts/m)
  expect(final).toMatch(/^USER 10001:10001$/m)
  expect(final).toMatch(/^HEALTHCHECK .*CMD \["node", "scripts\/health.mjs"\]$/m)
  expect(final).toMatch(/^COPY --from=build --chown=0:0 \/image\/ \.\/$/m)
  expect(final).not.toMatch(/^(RUN|ADD) /m)
  for (const [, name = ''] of final.matchAll(/\b(PAYMESH_[A-Z_]+)=/g)) expect(Object.keys(FIELDS)).toContain(name)
})

it('exposes the ports that processes listen on', () => {
  const [, exposed = ''] = /^EXPOSE (.*)$/m.exec(final) ?? []
  const { PAYMESH_API_PORT, PAYMESH_CHECKOUT_PORT, PAYMESH_ADMIN_PORT, PAYMESH_METRICS_PORT } = FIELDS
  const ports = [PAYMESH_API_PORT, PAYMESH_CHECKOUT_PORT, PAYMESH_ADMIN_PORT, PAYMESH_METRICS_PORT]
  expect(exposed.split(' ')).toEqual(ports.map(({ fallback }) => fallback))
})

// Guarantee: neither keys nor history get into an image.
it('sends the builder only what it reads', () => {
  const rules = deployText('Dockerfile.dockerignore')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
  expect(rules[0]).toBe('*')
  const let_in = rules.filter((rule) => rule.startsWith('!')).map((rule) => rule.slice(1))
  for (const path of let_in) expect(existsSync(join(ROOT, path)), path).toBe(true)
  for (const path of ['.git', '.env', '.data', 'node_modules', 'deploy']) expect(let_in).not.toContain(path)
})

it('names settings that exist in every deploy file', () => {
  for (const file of deployFiles()) {
    const names = [...deployText(file).matchAll(/\b(PAYMESH_[A-Z_]+[A-Z])\b/g)].map(([, name = '']) => name)
    // Not settings of a process: which image Compose runs.
    const unknown = names.filter((name) => !Object.hasOwn(FIELDS, name) && name !== 'PAYMESH_IMAGE')
    expect(unknown, file).toEqual([])
  }
})

describe('what the image holds', () => {
  let image = ''
  beforeAll(() => {
    image = mkdtempSync(join(tmpdir(), 'paymesh-image-'))
    execFileSync(process.execPath, ['scripts/image.mjs', image], { cwd: ROOT, stdio: 'pipe' })
  }, 120_000)
  afterAll(() => rmSync(image, { recursive: true, force: true }))

  const run = (...args: readonly string[]) =>
    spawnSync(process.execPath, args, { cwd: image, encoding: 'utf8', env: { PATH: process.env['PATH'] ?? '' } })
  const filesIn = (folder: string): readonly string[] =>
    readdirSync(folder).flatMap((name) => {
      const path = join(folder, name)
      return statSync(path).isDirectory() ? filesIn(path) : [relative(image, path)]
    })

  it('is bundles, pages and launchers; no source and no tool', () => {
    const files = filesIn(image)
    expect(files).toEqual(
      expect.arrayContaining(['Procfile', 'bundle/scripts/service/main.js', 'pages/dashboard/index.html']),
    )
    expect(files.filter((file) => /\.tsx?$/.test(file) && !file.startsWith('node_modules/'))).toEqual([])
    expect(new Set(files.map((file) => file.split('/')[0]))).toEqual(
      new Set(['LICENSE', 'Procfile', 'bundle', 'node_modules', 'package.json', 'pages', 'scripts']),
    )
    expect(readdirSync(join(image, 'node_modules'))).toEqual(['@node-rs'])
    expect(readFileSync(join(image, 'Procfile'), 'utf8')).toBe(readFileSync(join(ROOT, 'Procfile'), 'utf8'))
  })

  // Guarantee: a faulty configuration stops a process at its start with every fault named, and shows no value of a secret.
  it('runs a process from there, which lists all that is wrong with its settings', () => {
    const { status, stderr } = run('scripts/service.mjs', 'api')
    expect(status).toBe(1)
    for (const name of ['MONGO_URL', 'REDIS_URL', 'PAYMESH_MASTER_KEY', 'PAYMESH_KEY_PEPPER']) {
      expect(stderr).toContain(`${name}: is not set`)
    }
  })

  it('runs the command line from there, without a development tool at hand', () => {
    const { status, stdout, stderr } = run('scripts/paymesh.mjs', '--help')
    expect(stderr).toBe('')
    expect([status, stdout]).toEqual([0, expect.stringContaining('migrate')])
  })

  it('fails the health check while nothing answers', () => {
    const { status } = spawnSync(process.execPath, ['scripts/health.mjs'], {
      cwd: image,
      env: { PATH: process.env['PATH'] ?? '', PAYMESH_METRICS_PORT: '1' },
    })
    expect(status).toBe(1)
  })
})
