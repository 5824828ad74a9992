import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ROOT } from '#scripts/bundle.mjs'
import { FIELDS } from '#shared/config/fields.ts'
import { deployFiles, deployText } from './deploy-files.ts'

/** The instructions of each stage, in order: lines that are continued are one. */
const stages = deployText('Dockerfile')
  .replaceAll('\\\n', ' ')
  .split('\n')
  .filter((line) => line.trim() !== '' && !line.startsWith('#'))
  .map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1).trim()] as const)
  .reduce<(readonly [instruction: string, value: string])[][]>((known, instruction) => {
    if (instruction[0] === 'FROM') known.push([])
    known.at(-1)?.push(instruction)
    return known
  }, [])
const [build = [], final = []] = stages
const valuesOf = (stage: typeof final, instruction: string): readonly string[] =>
  stage.filter(([name]) => name === instruction).map(([, value]) => value)
/** The words of a command that an instruction of the final stage runs. */
const commandOf = (instruction: 'CMD' | 'HEALTHCHECK'): readonly string[] =>
  JSON.parse(/\[.*\]$/.exec(valuesOf(final, instruction)[0] ?? '')?.[0] ?? '[]')

it('runs as a user without rights, on files that this user cannot change', () => {
  const [user = ''] = valuesOf(final, 'USER')
  for (const id of user.split(':')) expect(Number(id)).toBeGreaterThan(0)
  for (const copied of valuesOf(final, 'COPY')) expect(copied).toContain('--chown=0:0')
})

it('sets only what is a setting', () => {
  const names = valuesOf(final, 'ENV').flatMap((value) =>
    [...value.matchAll(/\b(PAYMESH_[A-Z_]+)=/g)].map(([, name]) => name),
  )
  expect(names.length).toBeGreaterThan(0)
  for (const name of names) expect(Object.keys(FIELDS)).toContain(name)
})

it('exposes the ports that processes listen on', () => {
  const { PAYMESH_API_PORT, PAYMESH_CHECKOUT_PORT, PAYMESH_ADMIN_PORT, PAYMESH_METRICS_PORT } = FIELDS
  const ports = [PAYMESH_API_PORT, PAYMESH_CHECKOUT_PORT, PAYMESH_ADMIN_PORT, PAYMESH_METRICS_PORT]
  expect(valuesOf(final, 'EXPOSE')[0]?.split(' ')).toEqual(ports.map(({ fallback }) => fallback))
})

// Guarantee: no package runs code of its own where the image is built.
it('installs packages without their scripts', () => {
  const { stdout } = spawnSync('npm', ['config', 'get', 'ignore-scripts'], { cwd: ROOT, encoding: 'utf8' })
  expect(stdout.trim()).toBe('true')
  expect(valuesOf(build, 'COPY')[0]).toContain('.npmrc')
})

// Guarantee: neither keys nor history get into an image.
it('sends the builder only what it reads', () => {
  const rules = deployText('Dockerfile.dockerignore')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
  expect(rules[0]).toBe('*')
  const let_in = rules.filter((rule) => rule.startsWith('!')).map((rule) => rule.slice(1))
  for (const path of let_in) expect(existsSync(join(ROOT, path)), path).toBe(true)
  for (const path of ['.git', '.env', '.data', 'node_modules', 'deploy', 'dev']) expect(let_in).not.toContain(path)
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
    // `--from=build --chown=0:0 /image/ ./`: the folder that the build stage makes.
    const source = valuesOf(final, 'COPY')[0]?.split(' ').at(-2)?.replace(/\/$/, '') ?? ''
    const make = valuesOf(build, 'RUN').find((command) => command.endsWith(` ${source}`)) ?? 'exit 1'
    execFileSync('sh', ['-c', make.replace(` ${source}`, ` ${image}`)], { cwd: ROOT, stdio: 'pipe' })
  })
  afterAll(() => rmSync(image, { recursive: true, force: true }))

  const run = ([, ...args]: readonly string[], env: Readonly<Record<string, string>> = {}) =>
    spawnSync(process.execPath, args, {
      ...{ cwd: image, encoding: 'utf8' },
      env: { PATH: process.env['PATH'] ?? '', ...env },
    })
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
    const maps = files.filter((file) => file.startsWith('bundle/') && file.endsWith('.js.map'))
    const sources = maps.flatMap((file) =>
      (JSON.parse(readFileSync(join(image, file), 'utf8')) as { sources: string[] }).sources.map((source) =>
        relative(ROOT, resolve(image, dirname(file), decodeURI(source))),
      ),
    )
    expect(sources.filter((source) => source.startsWith('shared/')).length).toBeGreaterThan(100)
    expect(sources.filter((source) => source.startsWith('dev/'))).toEqual([])
    expect(readdirSync(join(image, 'node_modules'))).toEqual(['@img', '@node-rs', 'detect-libc', 'semver', 'sharp'])
    expect(readFileSync(join(image, 'Procfile'), 'utf8')).toBe(readFileSync(join(ROOT, 'Procfile'), 'utf8'))
  })

  // Guarantee: a faulty configuration stops a process at its start with every fault named, and shows no value of a secret.
  it('runs a process from there, which lists all that is wrong with its settings', () => {
    const { status, stderr } = run(['node', 'scripts/service.mjs', 'api'])
    expect(status).toBe(1)
    for (const name of ['MONGO_URL', 'REDIS_URL', 'PAYMESH_MASTER_KEY', 'PAYMESH_KEY_PEPPER']) {
      expect(stderr).toContain(`${name}: is not set`)
    }
  })

  it('runs the command line from there when no process is named, without a development tool at hand', () => {
    const { status, stdout, stderr } = run(commandOf('CMD'))
    expect(stderr).toBe('')
    expect([status, stdout]).toEqual([0, expect.stringContaining('migrate')])
  })

  it('fails the health check while nothing answers', () => {
    expect(run(commandOf('HEALTHCHECK'), { PAYMESH_METRICS_PORT: '1' }).status).toBe(1)
  })
})
