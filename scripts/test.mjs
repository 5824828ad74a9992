// `npm test`: everything that CI runs: checks, unit, integration, flow and browser tests, simulated seeds, a short chaos run on
// real processes, and the demo; `npm run test:deep` has the larger sizes. Two lanes side by side: stages that compute and the tests on
// stores yield to stages that mostly wait for processes, blocks and pages. The output of a stage is shown when it ends. When each stage
// ran and what failed is shown at the end. The last line is `N passed, N failed`; the status is 0 only when nothing failed and no stage
// was empty.
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'

if (process.argv.includes('--help')) {
  process.stdout.write(
    'npm test: checks, unit, integration, flow and browser tests on real stores, 200 simulated seeds, a short chaos run, and the demo\n',
  )
  process.exit(0)
}

const reports = mkdtempSync(join(tmpdir(), 'paymesh-reports-'))
const totals = { passed: 0, failed: 0 }
const failures = []
/** Stages in the order of their ends, each with the seconds at which it started and ended. */
const stages = []
const isWindows = process.platform === 'win32'

const TIMETABLE_COLUMNS = 40

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

/** Runs a command of this checkout; resolves with its result and output. */
async function run(args, nice) {
  const command = [...(isWindows ? [] : ['nice', '-n', String(nice)]), ...BATCH, process.execPath, ...args]
  const child = spawn(command[0], command.slice(1), { stdio: ['ignore', 'pipe', 'pipe'] })
  const output = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => output.push(chunk))
  const ok = await new Promise((resolve) => {
    child.once('error', () => resolve(false))
    child.once('close', (status) => resolve(status === 0))
  })
  return { ok, output: Buffer.concat(output).toString('utf8') }
}

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
  const end = Math.max(...stages.map(({ to }) => to))
  const column = (ms) => Math.round((ms / end) * TIMETABLE_COLUMNS)
  const rows = stages.toSorted((one, other) => one.from - other.from)
  return rows.map(({ title, from, to, passed, failed }) => {
    const bar = ' '.repeat(column(from)) + '█'.repeat(Math.max(1, column(to) - column(from)))
    const [first, last] = [from, to].map((ms) => `${(ms / 1000).toFixed(0)} s`.padStart(6))
    const counts = `${passed} passed, ${failed} failed`
    return `  ${title.padEnd(12)} ${first} to ${last}  ${bar.padEnd(TIMETABLE_COLUMNS + 1)} ${counts}\n`
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

const checks = () => stage('checks', ['scripts/check.mjs'], NICE.computes)
const chaos = () =>
  stage(
    'chaos',
    tsx('chaos/run.ts', '--faults', faults, '--per-second', '1', '--quiet', '60', '--retries', '20'),
    NICE.waits,
  )
const demo = () => stage('demo', ['scripts/demo.mjs', '--exit'], NICE.waits)
const simulation = () =>
  stage(
    'simulation',
    // It makes many objects that live shortly: in 64 MB most are gone before the garbage collector copies them.
    ['--max-semi-space-size=64', ...tsx('test/simulation/run.ts', '--seeds', '200', '--jobs', '1')],
    NICE.computes,
  )

/**
 * Each lane runs its stages one after the other. Two lanes keep two cores busy; more would compete for them. What waits most runs
 * beside the tests on stores, which alone keep nearly both cores busy.
 */
const LANES = [
  [chaos, demo, () => vitest('flow', NICE.waits), () => vitest('browser', NICE.waits)],
  [() => vitest('integration', NICE.stores)],
]
/** Stages that only compute: a lane that has finished takes the next. The last one uses both cores, beside another or alone. */
const COMPUTING = [simulation, checks, () => vitest('unit', NICE.computes)]

async function runLane(lane) {
  for (const next of lane) await next()
  for (let next = COMPUTING.shift(); next !== undefined; next = COMPUTING.shift()) await next()
}

const began = performance.now()
await Promise.all(LANES.map(runLane))
const minutes = ((performance.now() - began) / 60_000).toFixed(1)

rmSync(reports, { recursive: true, force: true })
if (failures.length > 0) process.stdout.write(`\nFailed:\n${failures.map((line) => `  ${line}\n`).join('')}`)
process.stdout.write(
  `\n${timetable().join('')}\nIn ${minutes} minutes:\n${totals.passed} passed, ${totals.failed} failed\n`,
)
process.exitCode = totals.failed === 0 ? 0 : 1
