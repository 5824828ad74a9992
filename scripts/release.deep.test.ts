import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ROOT } from '#scripts/bundle.mjs'
import { deepTest } from '#test/support/depth.ts'

const MIGRATIONS = 'shared/db/schema/migrations'
const AUTHOR = {
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@b.c',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@b.c',
}
const clone = mkdtempSync(join(tmpdir(), 'paymesh-release-'))
const git = (...args: readonly string[]): string =>
  execFileSync('git', [...args], { cwd: clone, encoding: 'utf8', env: { ...process.env, ...AUTHOR } }).trim()
const edit = (path: string, change: (text: string) => string): void => {
  const before = readFileSync(join(clone, path), 'utf8')
  const after = change(before)
  if (after === before) throw new Error(`nothing to change in ${path}`)
  writeFileSync(join(clone, path), after)
}
const release = (...args: readonly string[]) =>
  spawnSync(process.execPath, [join(ROOT, 'scripts/release.mjs'), ...args], {
    cwd: clone,
    encoding: 'utf8',
    env: { ...process.env, ...AUTHOR },
  })
const tags = (): string => git('tag', '--list', 'v*')
const today = new Date().toISOString().slice(0, 10)

/** Does by hand what docs/versioning.md lists, and commits it. */
function prepare(version: string, from: string): void {
  for (const path of [
    'package.json',
    'package-lock.json',
    'clients/typescript/package.json',
    'clients/cli/package.json',
    'plugins/vendure/package.json',
    'plugins/medusa/package.json',
  ])
    edit(path, (text) => text.replaceAll(`"version": "${from}"`, `"version": "${version}"`))
  edit('clients/typescript/src/version.ts', (text) => text.replace(from, version))
  for (const path of ['python/pyproject.toml', 'python/paymesh/_client.py', 'php/src/Paymesh.php', 'go/client.go'])
    edit(`clients/${path}`, (text) => text.replace(from, version))
  edit('deploy/helm/paymesh/Chart.yaml', (text) => text.replaceAll(from, version))
  edit('CHANGELOG.md', (text) =>
    text.replace('## [Unreleased]\n', `## [Unreleased]\n\n## [${version}] - ${today}\n\n* A line.\n`),
  )
  git('commit', '--quiet', '--all', '--message', `Release ${version}`)
}

beforeAll(() => {
  git('clone', '--quiet', '--shared', ROOT, '.')
  symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'))
  writeFileSync(join(clone, '.git/info/exclude'), 'node_modules\n')
  for (const tag of tags().split('\n').filter(Boolean)) git('tag', '--delete', tag)
})
afterAll(() => rmSync(clone, { recursive: true, force: true }))

// Guarantee: a tag exists only for a commit that is a release in every file, and it is never moved.
describe('npm run release', () => {
  it('refuses a commit that is none and names every reason at once', () => {
    writeFileSync(join(clone, 'left-over.txt'), '')
    const { status, stderr } = release('1.1.0')
    rmSync(join(clone, 'left-over.txt'))
    expect(status).toBe(1)
    for (const part of [
      'not committed',
      'not "Release 1.1.0"',
      'package.json says',
      'Chart.yaml',
      'no section [1.1.0]',
    ])
      expect(stderr).toContain(part)
    expect(tags()).toBe('')
    expect(release('1.1').status).toBe(2)
  })

  it('makes an annotated tag for a release, once', () => {
    const from = JSON.parse(readFileSync(join(clone, 'package.json'), 'utf8')).version
    writeFileSync(join(clone, MIGRATIONS, '0001-first.ts'), 'export const first = {\n  id: 1,\n  readableBy: 0,\n}\n')
    git('add', '--all')
    prepare('1.1.0', from)
    expect(release('1.1.0', '--check')).toMatchObject({ status: 0, stderr: '' })
    expect(tags()).toBe('')
    expect(release('1.1.0')).toMatchObject({ status: 0, stderr: '' })
    for (const name of ['client', 'cli', 'vendure-plugin', 'medusa-plugin'])
      expect(existsSync(join(clone, `.cache/release/paymesh-${name}-1.1.0.tgz`))).toBe(true)
    expect(git('cat-file', '-t', 'v1.1.0')).toBe('tag')
    expect(git('rev-parse', 'v1.1.0^{commit}')).toBe(git('rev-parse', 'HEAD'))
    expect(release('1.1.0').stderr).toContain('v1.1.0 exists')
  })

  deepTest('refuses a number that skips one', () => {
    for (const version of ['1.0.9', '1.1.2', '1.3.0', '3.0.0'])
      expect(release(version, '--check').stderr).toContain(`${version} does not follow 1.1.0`)
    for (const version of ['1.1.1', '1.2.0', '2.0.0'])
      expect(release(version, '--check').stderr).not.toContain('follow')
  })

  it('refuses migrations that shut out the release before, or that rewrite it', () => {
    const names = git('ls-tree', '--name-only', `HEAD:${MIGRATIONS}`).split('\n')
    const last = names.filter((name) => /^\d{4}-.*(?<!\.test)\.ts$/.test(name)).at(-1) ?? ''
    const next = Number(last.slice(0, 4)) + 1
    const added = `${String(next).padStart(4, '0')}-added.ts`
    writeFileSync(join(clone, MIGRATIONS, added), `export const added = {\n  id: ${next},\n  readableBy: ${next},\n}\n`)
    edit(join(MIGRATIONS, last), (text) => text.replace(/readableBy: \d+/, `readableBy: ${next - 1}`))
    git('add', '--all')
    prepare('1.1.1', '1.1.0')
    const { stderr } = release('1.1.1')
    expect(stderr).toContain(`${added}: readableBy ${next} shuts out v1.1.0`)
    expect(stderr).toContain(`${last} of v1.1.0 was changed or removed`)
    expect(tags()).toBe('v1.1.0')
  })
})
