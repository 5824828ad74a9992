// `npm run check`: all checks without a store, in under two minutes. Each step is also a separate script.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const steps = [
  'check:types',
  'check:lint',
  'check:imports',
  'check:dead',
  'check:lockfile',
  'check:deps',
  'check:env',
  'check:docs',
  'check:decisions',
  'check:recipes',
  'check:networks',
  'check:words',
  'check:bytes',
  'check:client',
  'check:openapi',
  'check:spectral',
]
/** Before the names of checks that run in this process and report a line of JSON each. */
const TOGETHER = '--together'
const only = process.argv.slice(2)
if (only.includes('--help')) {
  process.stdout.write(`npm run check: runs ${steps.join(', ')}; exit 1 when any of them fails\n`)
  process.exit(0)
}

/** The type checker lives for seconds: it collects no garbage below this limit, which saves a third of its computing. */
const env = { GOGC: 'off', GOMEMLIMIT: '3GiB', ...process.env }
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'))
const START = 'node --import tsx '
/** Programs of ours without options of Node run in one process: they share the code that they read, which costs more than what they do. */
const isOurs = (step) => scripts[step].startsWith(START)

function runAlone(step) {
  const started = performance.now()
  const run = spawnSync('npm', ['run', '--silent', step], {
    encoding: 'utf8',
    env,
    shell: process.platform === 'win32',
  })
  const seconds = (performance.now() - started) / 1000
  return { step, ok: run.status === 0, output: `${run.stdout}${run.stderr}`, seconds }
}

/** One that reports nothing has failed. */
function runTogether(names) {
  const args = ['--import', 'tsx', 'scripts/check.mjs', TOGETHER, ...names]
  const run = spawnSync(process.execPath, args, { encoding: 'utf8', env })
  const results = run.stdout.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []))
  const lost = { ok: false, output: run.stderr, seconds: 0 }
  return names.map((step) => results.find((result) => result.step === step) ?? { step, ...lost })
}

/** Runs a program of ours in this process, with its own arguments, and keeps what it says. */
async function runHere(step) {
  const started = performance.now()
  const [file, ...args] = scripts[step].slice(START.length).split(' ')
  let output = ''
  for (const stream of [process.stdout, process.stderr]) {
    stream.write = (text) => {
      output += String(text)
      return true
    }
  }
  process.argv = [process.execPath, resolve(file), ...args]
  process.exitCode = 0
  let ok = false
  try {
    // With a query of its own, a program runs although another one has imported it.
    await import(`${pathToFileURL(resolve(file))}?check`)
    ok = process.exitCode === 0
  } catch (error) {
    output += error.stack
  }
  return { step, ok, output, seconds: (performance.now() - started) / 1000 }
}

let failed = 0
function tell({ step, ok, output, seconds }) {
  if (!ok) failed += 1
  process.stdout.write(`${ok ? '✓' : '✗'} ${step} (${seconds.toFixed(1)} s)\n`)
  if (!ok) process.stdout.write(`${output}\n`)
}

if (only[0] === TOGETHER) {
  const write = process.stdout.write.bind(process.stdout)
  for (const step of only.slice(1)) write(`${JSON.stringify(await runHere(step))}\n`)
  process.exitCode = 0
} else {
  for (const step of steps.filter((name) => !isOurs(name))) tell(runAlone(step))
  for (const result of runTogether(steps.filter(isOurs))) tell(result)
  process.stdout.write(`checks: ${steps.length - failed} passed, ${failed} failed\n`)
  process.exitCode = failed === 0 ? 0 : 1
}
