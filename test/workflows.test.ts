import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { ROOT } from '#scripts/bundle.mjs'

interface Step {
  readonly uses?: string
  readonly run?: string
}

interface Job {
  readonly 'timeout-minutes': number
  readonly strategy?: { readonly matrix: { readonly stage: readonly string[] } }
  readonly steps: readonly Step[]
}

interface Workflow {
  readonly on: object
  readonly permissions: object
  readonly jobs: Readonly<Record<string, Job>>
}

const workflow = (name: string): Workflow => parse(readFileSync(join(ROOT, '.github/workflows', name), 'utf8'))
const ci = workflow('ci.yml')
const nightly = workflow('nightly.yml')
const deep = (...args: readonly string[]) =>
  execFileSync(process.execPath, ['scripts/test-deep.mjs', ...args], { cwd: ROOT, encoding: 'utf8' })

it('every push and pull request runs the test command', () => {
  expect(Object.keys(ci.on).sort()).toEqual(['pull_request', 'push'])
  expect(ci.jobs['test']?.steps.map(({ run }) => run)).toContain('bash .ci/run')
})

// Guarantee: a proof that is added to the deep tier runs every night.
it('the night runs exactly the stages that test:deep has', () => {
  const stages = deep('--list').trim().split('\n')
  expect(stages.length).toBeGreaterThan(4)
  const { steps = [], strategy } = nightly.jobs['deep'] ?? {}
  expect(strategy?.matrix.stage).toEqual(stages)
  expect(steps.some(({ run }) => run === `bash .ci/run ${'$'}{{ matrix.stage }}`)).toBe(true)
  expect(nightly.on).toHaveProperty('schedule')
})

it('a stage that does not exist is refused before anything runs', () => {
  const { status, stderr } = spawnSync(process.execPath, ['scripts/test-deep.mjs', 'nowhere'], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  expect([status, stderr]).toEqual([2, expect.stringContaining('there is no stage nowhere')])
})

describe.each(Object.entries({ ci, nightly }))('%s', (_name, { jobs, permissions }) => {
  // Guarantee: what runs here with our code is what was read, whatever happens to a tag.
  it('names actions by commit and may only read', () => {
    expect(permissions).toEqual({ contents: 'read' })
    const used = Object.values(jobs).flatMap(({ steps }) => steps.flatMap(({ uses }) => uses ?? []))
    expect(used.length).toBeGreaterThan(0)
    for (const action of used) expect(action).toMatch(/^actions\/[a-z-]+@[0-9a-f]{40}$/)
  })

  it('ends', () => {
    for (const job of Object.values(jobs)) expect(job['timeout-minutes']).toBeLessThanOrEqual(100)
  })
})
