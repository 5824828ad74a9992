// `npm test`: everything that CI runs, in order: checks, unit, integration, flow and browser tests, simulated seeds, a short
// chaos run on real processes, then the demo.
// The last line is `N passed, N failed`; the status is 0 only when nothing failed and no stage was empty.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

if (process.argv.includes('--help')) {
  process.stdout.write(
    'npm test: checks, unit, integration, flow and browser tests on real stores, 2,000 simulated seeds, a short chaos run, and the demo\n',
  )
  process.exit(0)
}

const reports = mkdtempSync(join(tmpdir(), 'paymesh-reports-'))
const totals = { passed: 0, failed: 0 }

/** Runs a command with its output shown as it comes. */
function run(title, command, args) {
  process.stdout.write(`\n── ${title} ──\n`)
  return spawnSync(command, args, { stdio: 'inherit', shell: process.platform === 'win32' }).status === 0
}

function note(title, passed, failed) {
  totals.passed += passed
  totals.failed += failed
  process.stdout.write(`${title}: ${passed} passed, ${failed} failed\n`)
}

/** A program of ours that counts as one test and says by its status whether it passed. */
function stage(title, args) {
  const ok = run(title, process.execPath, args)
  note(title, ok ? 1 : 0, ok ? 0 : 1)
}

/** A vitest project; zero tests, skipped tests and a crash before the report are failures. */
function vitest(project) {
  const file = join(reports, `${project}.json`)
  const ok = run(`${project} tests`, 'npx', [
    'vitest',
    'run',
    '--project',
    project,
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${file}`,
  ])
  let report = { numPassedTests: 0, numFailedTests: 0, numPendingTests: 0, numTotalTests: 0 }
  try {
    report = JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    process.stdout.write(`${project}: no report was written\n`)
  }
  const missing = report.numTotalTests === 0 || report.numPendingTests > 0 ? 1 : 0
  if (missing) process.stdout.write(`${project}: ${report.numTotalTests} tests, ${report.numPendingTests} skipped\n`)
  const failed = report.numFailedTests + missing
  note(project, report.numPassedTests, failed === 0 && !ok ? 1 : failed)
}

stage('checks', ['scripts/check.mjs'])
for (const project of ['unit', 'integration', 'flow', 'browser']) vitest(project)
stage('simulation', ['--import', 'tsx', 'test/simulation/run.ts', '--seeds', '2000'])
stage('chaos', ['--import', 'tsx', 'chaos/run.ts', '--faults', '8', '--quiet', '60'])
stage('demo', ['scripts/demo.mjs', '--exit'])

rmSync(reports, { recursive: true, force: true })
process.stdout.write(`\n${totals.passed} passed, ${totals.failed} failed\n`)
process.exitCode = totals.failed === 0 ? 0 : 1
