import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { expect, it } from 'vitest'
import { ROOT } from '../bundle.mjs'

/** A module for `--import`. */
const preload = (code: string): string => `--import=data:text/javascript,${encodeURIComponent(code)}`
const { optionalDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly optionalDependencies: Readonly<Record<string, string>>
}

// Guarantee: what npm starts runs on the Node that was tested, whatever Node the machine has.
it('npm run uses the Node that npm installed', () => {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => !folder.includes('node_modules'))
  const { stderr } = spawnSync('npm', ['run', 'demo', '--', '--help'], {
    cwd: ROOT,
    encoding: 'utf8',
    env: {
      ...process.env,
      PATH: folders.join(delimiter),
      NODE_OPTIONS: preload('process.stderr.write(process.argv[1] + " on " + process.version + "\\n")'),
    },
  })
  expect(stderr).toMatch(/^\S*npm\S* on v\d+/m)
  const version = optionalDependencies[`node-${process.platform}-${process.arch}`] ?? process.versions.node
  expect(version).toMatch(/^24\./)
  expect(stderr).toContain(`${join(ROOT, 'scripts/demo.mjs')} on v${version}\n`)
})

it.each(['demo', 'start', 'paymesh', 'service', 'test', 'test-deep'])(
  '%s.mjs refuses an old Node with a remedy',
  (name) => {
    const old = preload(
      "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } })",
    )
    const { status, stderr } = spawnSync(process.execPath, [old, `scripts/${name}.mjs`], {
      cwd: ROOT,
      encoding: 'utf8',
    })
    expect(status).toBe(1)
    expect(stderr).toMatch(/^Paymesh needs Node 22\.19 or newer/)
  },
)
