// `npm test`: everything that CI runs: checks, unit, integration, flow and browser tests, simulated seeds, a short chaos run on
// real processes, and the demo; `npm run test:deep` is the longer one. One stage after the other, only the simulation runs beside those that mostly wait.
// What failed is named again at the end. The last line is `N passed, N failed`; the status is 0 only when nothing failed and no
// stage was empty.
import { spawn } from 'node:child_process'
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
const isWindows = process.platform === 'win32'

/** Resolves with whether the command ended with 0. */
function ended(child) {
  return new Promise((resolve) => {
    child.once('error', () => resolve(false))
    child.once('close', (status) => resolve(status === 0))
  })
}

/** Runs a command with its output shown as it comes. */
function run(title, command, args) {
  process.stdout.write(`\n── ${title} ──\n`)
  return ended(spawn(command, args, { stdio: 'inherit', shell: isWindows }))
}

/** Runs a program of ours with the time that nothing else wants; resolves with how it ended and what it printed. */
async function runBeside(args) {
  const command = isWindows ? [process.execPath, ...args] : ['nice', '-n', '19', process.execPath, ...args]
  const child = spawn(command[0], command.slice(1), { stdio: ['ignore', 'pipe', 'pipe'] })
  const output = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => output.push(chunk))
  const ok = await ended(child)
  return { ok, output: Buffer.concat(output).toString('utf8') }
}

/** Shows how long what the promise stands for took. */
async function timed(title, promise) {
  const started = performance.now()
  const { passed, failed } = await promise
  totals.passed += passed
  totals.failed += failed
  const seconds = ((performance.now() - started) / 1000).toFixed(0)
  process.stdout.write(`${title}: ${passed} passed, ${failed} failed (${seconds} s)\n`)
}

/** A program of ours counts as one test and says by its status whether it passed. */
function asOne(title, ok) {
  if (!ok) failures.push(title)
  return { passed: ok ? 1 : 0, failed: ok ? 0 : 1 }
}

const stage = (title, args) =>
  timed(
    title,
    run(title, process.execPath, args).then((ok) => asOne(title, ok)),
  )
const vitest = (project) => timed(project, runProject(project))

/** A vitest project; zero tests, skipped tests and a crash before the report are failures. */
async function runProject(project) {
  const file = join(reports, `${project}.json`)
  const ok = await run(`${project} tests`, 'npx', [
    'vitest',
    'run',
    '--project',
    project,
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${file}`,
  ])
  let report = { numPassedTests: 0, numFailedTests: 0, numPendingTests: 0, numTotalTests: 0, testResults: [] }
  try {
    report = JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    failures.push(`${project}: no report was written`)
  }
  failures.push(...failuresOf(project, report))
  const isMissing = report.numTotalTests === 0 || report.numPendingTests > 0
  if (isMissing) failures.push(`${project}: ${report.numTotalTests} tests, ${report.numPendingTests} skipped`)
  const failed = report.numFailedTests + (isMissing ? 1 : 0)
  return { passed: report.numPassedTests, failed: failed === 0 && !ok ? 1 : failed }
}

/** A line for each test that failed, and for each file that could not be run. */
function failuresOf(project, { testResults }) {
  return testResults.flatMap(({ name, status, message, assertionResults }) => {
    const file = `${project}: ${relative(process.cwd(), name)}`
    const failed = assertionResults.filter((test) => test.status === 'failed')
    if (failed.length === 0) return status === 'failed' ? [`${file}: ${firstLine(message)}`] : []
    return failed.map((test) => `${file} > ${test.fullName}: ${firstLine(test.failureMessages.join('\n'))}`)
  })
}

const firstLine = (text) => text.trim().split('\n', 1)[0]?.slice(0, 300) ?? ''

await stage('checks', ['scripts/check.mjs'])
await vitest('unit')
await vitest('integration')
const simulation = runBeside(['--import', 'tsx', 'test/simulation/run.ts', '--seeds', '200'])
await vitest('flow')
await vitest('browser')
await stage('chaos', ['--import', 'tsx', 'chaos/run.ts', '--faults', '8', '--quiet', '60'])
await stage('demo', ['scripts/demo.mjs', '--exit'])
process.stdout.write('\n── simulation, beside the stages since the flow tests ──\n')
await timed(
  'simulation, waited for',
  simulation.then(({ ok, output }) => {
    process.stdout.write(output)
    return asOne('simulation', ok)
  }),
)

rmSync(reports, { recursive: true, force: true })
if (failures.length > 0) process.stdout.write(`\nFailed:\n${failures.map((line) => `  ${line}\n`).join('')}`)
process.stdout.write(`\n${totals.passed} passed, ${totals.failed} failed\n`)
process.exitCode = totals.failed === 0 ? 0 : 1
