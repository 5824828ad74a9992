// `npm test`: everything that CI runs: checks, unit, integration, flow and browser tests, simulated seeds, a short chaos run on
// real processes, and the demo; `npm run test:deep` has the larger sizes. Begins with what it needs (machine/requirements.ts), and brings it where
// it may. Two lanes side by side: stages that compute and the tests on stores yield to stages that mostly wait for processes, blocks and
// pages. The output of a stage is shown when it ends. When each stage ran and what failed is shown at the end. The last line is
// `N passed, N failed`; the status is 0 only when nothing failed, no stage was empty and nothing was missing.
import './machine/node-version.mjs'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'

const NAMES = ['chaos', 'demo', 'flow', 'browser', 'integration', 'simulation', 'checks', 'unit']
const HELP = `npm test [-- --no-install] [-- --only STAGE,…]

Checks, unit, integration, flow and browser tests on real stores, 200 simulated seeds, a short chaos run, and the demo. What is
missing on the machine is installed with apt-get as root on Debian and Ubuntu; otherwise one command that brings it is shown, what
cannot run without it is left out, and the run has failed.

  --no-install   changes nothing on the system
  --only LIST    only these stages: ${NAMES.join(', ')}
`
const { values } = parseArgs({
  options: {
    help: { type: 'boolean', default: false },
    'no-install': { type: 'boolean', default: false },
    only: { type: 'string', default: NAMES.join(',') },
  },
})
const only = values.only.split(',')
const unknown = only.filter((name) => !NAMES.includes(name))
if (values.help || unknown.length > 0) {
  process.stdout.write(unknown.length > 0 ? `there is no stage ${unknown.join(', ')}\n\n${HELP}` : HELP)
  process.exit(unknown.length > 0 ? 2 : 0)
}
const { startGuarded } = await import('#dev/embedded/guarded-child.ts')
const { bringRequirements, describeMissing, TEST_REQUIREMENTS } = await import('./machine/requirements.ts')

const reports = mkdtempSync(join(tmpdir(), 'paymesh-reports-'))
const totals = { passed: 0, failed: 0 }
const failures = []
/** Stages in the order of their ends, each with the seconds at which it started and ended. */
const stages = []
const isWindows = process.platform === 'win32'

const TIMETABLE_COLUMNS = 40
/** What ends a stage that is still running after a signal, milliseconds. */
const STOP_MS = 10_000

/**
 * How a stage shares the cores: waiting ones come first, so that their processes respond in time. Tests on stores take longest, and come
 * before what only computes.
 */
const NICE = { waits: 0, stores: 3, computes: 5 }

/**
 * Linux leaves a process of this policy on its core although another one wakes up (sched(7)). With many processes on two cores
 * files of `integration` then took a twelfth less computing: fewer switches. Where there is none the usual policy is kept.
 */
const BATCH = spawnSync('chrt', ['--batch', '0', 'true']).status === 0 ? ['chrt', '--batch', '0'] : []

/** Stages that run: each has a process group, which ends with this process. */
const running = new Set()
let isEnding = false

/** Runs a command of this checkout; resolves with its result and output. */
async function run(args, nice) {
  const command = [...(isWindows ? [] : ['nice', '-n', String(nice)]), ...BATCH, process.execPath, ...args]
  const child = await startGuarded(command[0], command.slice(1), { stdio: ['ignore', 'pipe', 'pipe'] })
  running.add(child)
  const output = []
  const streams = [child.stdout, child.stderr]
  for (const stream of streams) stream.on('data', (chunk) => output.push(chunk))
  await Promise.all(streams.map((stream) => once(stream, 'close')))
  const { code } = await child.exited
  running.delete(child)
  return { ok: code === 0, output: Buffer.concat(output).toString('utf8') }
}

/** Ctrl-C and signals: ends every stage with its processes, then this process. */
async function end(signal) {
  if (isEnding) return
  isEnding = true
  process.stdout.write(`\n${signal}: ending ${running.size} stages …\n`)
  await Promise.all([...running].map((child) => child.stop(STOP_MS)))
  rmSync(reports, { recursive: true, force: true })
  process.stdout.write('\n0 passed, 1 failed\n')
  process.exit(130)
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => void end(signal))

/** Runs a stage, shows what it printed and how long it took, and counts its tests. */
async function stage(title, args, nice, count = asOne) {
  const started = performance.now()
  process.stdout.write(`── ${title} begins ──\n`)
  const { ok, output } = await run(args, nice)
  const { passed, failed } = count(title, ok)
  totals.passed += passed
  totals.failed += failed
  const ended = performance.now()
  stages.push({ title, from: started - began, to: ended - began, passed, failed })
  const seconds = ((ended - started) / 1000).toFixed(0)
  process.stdout.write(`\n── ${title} ──\n${output}${title}: ${passed} passed, ${failed} failed (${seconds} s)\n`)
}

/** When each stage ran, to show lanes that were idle. */
function timetable() {
  const last = Math.max(...stages.map(({ to }) => to))
  const column = (ms) => Math.round((ms / last) * TIMETABLE_COLUMNS)
  const rows = stages.toSorted((one, other) => one.from - other.from)
  return rows.map(({ title, from, to, passed, failed }) => {
    const bar = ' '.repeat(column(from)) + '█'.repeat(Math.max(1, column(to) - column(from)))
    const [starts, ends] = [from, to].map((ms) => `${(ms / 1000).toFixed(0)} s`.padStart(6))
    const counts = `${passed} passed, ${failed} failed`
    return `  ${title.padEnd(12)} ${starts} to ${ends}  ${bar.padEnd(TIMETABLE_COLUMNS + 1)} ${counts}\n`
  })
}

/** A program counts as one test and passes or fails by its exit status. */
function asOne(title, ok) {
  if (!ok) failures.push(title)
  return { passed: ok ? 1 : 0, failed: ok ? 0 : 1 }
}

const reportOf = (project) => join(reports, `${project}.json`)

/** Runs a vitest project. */
const vitest = (project, nice) =>
  stage(
    project,
    [
      ...['node_modules/vitest/vitest.mjs', 'run', '--project', project, '--reporter=default', '--reporter=json'],
      `--outputFile.json=${reportOf(project)}`,
    ],
    nice,
    readReport,
  )

/** The tests of a project; zero tests, skipped tests and a crash before the report are failures. */
function readReport(project, ok) {
  let report = { numPassedTests: 0, numFailedTests: 0, numPendingTests: 0, numTotalTests: 0, testResults: [] }
  try {
    report = JSON.parse(readFileSync(reportOf(project), 'utf8'))
  } catch {
    failures.push(`${project}: no report was written`)
  }
  failures.push(...failuresOf(project, report))
  const isMissing = report.numTotalTests === 0 || report.numPendingTests > 0
  if (isMissing) failures.push(`${project}: ${report.numTotalTests} tests, ${report.numPendingTests} skipped`)
  const failed = report.numFailedTests + (isMissing ? 1 : 0)
  if (failed === 0 && !ok) failures.push(`${project}: ended with an error`)
  return { passed: report.numPassedTests, failed: failed === 0 && !ok ? 1 : failed }
}

/** A line for each test that failed, and for each file that could not be run. */
function failuresOf(project, { testResults }) {
  return testResults.flatMap(({ name, status, message, assertionResults }) => {
    const file = `${project}: ${relative(process.cwd(), name)}`
    const failed = assertionResults.filter((test) => test.status === 'failed')
    if (failed.length === 0) return status === 'failed' ? [`${file}: ${firstLine(message)}`] : []
    return failed.map((test) => `${file} > ${test.fullName}: ${cause(test.failureMessages.join('\n'))}`)
  })
}

const firstLine = (text) => text.trim().split('\n', 1)[0]?.slice(0, 300) ?? ''

/** The first line of a failure, and the line of the test or of its support code that met it. */
function cause(text) {
  const place = text.split('\n').find((line) => /^\s+at .*\.ts:\d+/.test(line) && !line.includes('node_modules'))
  const at = place?.match(/(?<![^/\s(])([^/\s(]+\.ts:\d+)/)?.[1]
  return at === undefined ? firstLine(text) : `${firstLine(text)} (${at})`
}

/** Random faults on real processes. */
const faults = process.env.EVERY_CASE === '1' ? '4' : '2'

const tsx = (...args) => ['--import', 'tsx', ...args]

const STAGES = {
  checks: () => stage('checks', ['scripts/check.mjs'], NICE.computes),
  chaos: () =>
    stage(
      'chaos',
      tsx('test/chaos/run.ts', '--faults', faults, '--per-second', '1', '--quiet', '60', '--retries', '20'),
      NICE.waits,
    ),
  demo: () => stage('demo', ['scripts/demo.mjs', '--exit'], NICE.waits),
  simulation: () =>
    stage(
      'simulation',
      // It makes many objects that live shortly: in 64 MB most are gone before the garbage collector copies them.
      ['--max-semi-space-size=64', ...tsx('test/simulation/run.ts', '--seeds', '200', '--jobs', '1')],
      NICE.computes,
    ),
  unit: () => vitest('unit', NICE.computes),
  integration: () => vitest('integration', NICE.stores),
  flow: () => vitest('flow', NICE.waits),
  browser: () => vitest('browser', NICE.waits),
}

/**
 * Each lane runs its stages one after the other. Two lanes keep two cores busy; more would compete for them. What waits most runs
 * beside the tests on stores, which alone keep nearly both cores busy.
 */
const LANES = [['chaos', 'demo', 'flow', 'browser'], ['integration']]
/** Stages that only compute: a lane that has finished takes the next. The last one uses both cores, beside another or alone. */
const COMPUTING = ['simulation', 'checks', 'unit']

/** Runs a stage that was asked for; one that lacks what it needs has failed. */
async function runStage(name) {
  if (isEnding || !only.includes(name)) return
  if (!missing?.stages.has(name)) return await STAGES[name]()
  failures.push(`${name}: left out`)
  totals.failed += 1
}

async function runLane(lane) {
  for (const name of lane) await runStage(name)
  for (let name = COMPUTING.shift(); name !== undefined; name = COMPUTING.shift()) await runStage(name)
}

const missing = await bringRequirements(TEST_REQUIREMENTS, {
  mayInstall: !values['no-install'],
  report: (line) => void process.stdout.write(`${line}\n`),
})
if (missing !== null) process.stdout.write(describeMissing(missing))
/** Shows what failed, when each stage ran, and the sums. */
function conclude() {
  if (missing !== null) failures.push(`missing: ${missing.names.join(', ')}`)
  totals.failed += missing?.names.length ?? 0
  // A run without any test proves nothing.
  if (totals.passed + totals.failed === 0) totals.failed = 1
  const minutes = ((performance.now() - began) / 60_000).toFixed(1)
  rmSync(reports, { recursive: true, force: true })
  if (failures.length > 0) process.stdout.write(`\nFailed:\n${failures.map((line) => `  ${line}\n`).join('')}`)
  process.stdout.write(
    `\n${timetable().join('')}\nIn ${minutes} minutes:\n${totals.passed} passed, ${totals.failed} failed\n`,
  )
  process.exitCode = totals.failed === 0 ? 0 : 1
}

const began = performance.now()
await Promise.all(LANES.map(runLane))
if (!isEnding) conclude()
