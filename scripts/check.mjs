// `npm run check`: all checks without a store, in under two minutes. Each step is also a separate script.
import { spawnSync } from 'node:child_process'

const steps = [
  'check:types',
  'check:lint',
  'check:imports',
  'check:dead',
  'check:deps',
  'check:env',
  'check:docs',
  'check:decisions',
  'check:recipes',
  'check:networks',
  'check:words',
  'check:patterns',
  'check:bytes',
  'check:client',
  'check:openapi',
  'check:spectral',
]
const only = process.argv.slice(2)
if (only.includes('--help')) {
  process.stdout.write(`npm run check: runs ${steps.join(', ')}; exit 1 when any of them fails\n`)
  process.exit(0)
}

/** The type checker lives for seconds: it collects no garbage below this limit, which saves a third of its computing. */
const env = { GOGC: 'off', GOMEMLIMIT: '3GiB', ...process.env }

let failed = 0
for (const step of steps) {
  const started = performance.now()
  const run = spawnSync('npm', ['run', '--silent', step], {
    encoding: 'utf8',
    env,
    shell: process.platform === 'win32',
  })
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  const ok = run.status === 0
  if (!ok) failed += 1
  process.stdout.write(`${ok ? '✓' : '✗'} ${step} (${seconds} s)\n`)
  if (!ok) process.stdout.write(`${run.stdout}${run.stderr}\n`)
}
process.stdout.write(`checks: ${steps.length - failed} passed, ${failed} failed\n`)
process.exitCode = failed === 0 ? 0 : 1
