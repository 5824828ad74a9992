// `npm run test:deep -- [stage …]`: the long-running tests, each with a time limit of 80 minutes.
// Writes docs/reports/deep-STAGE.md for each stage: commit, date, command, minutes, result and the end of its output.
// Begins with what the stages need (machine/requirements.ts), and brings it where it may; a stage that lacks something has failed.
// The last line is `N passed, N failed`; the status is 0 only when every stage passed.
import './machine/node-version.mjs'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'

const { startGuarded } = await import('#dev/embedded/guarded-child.ts')
const { bringRequirements, describeMissing, TEST_REQUIREMENTS } = await import('./machine/requirements.ts')

const LIMIT_MS = 80 * 60_000
const STOP_MS = 10_000
const KEPT_LINES = 60
const SIMULATION = ['--import', 'tsx', 'test/simulation/run.ts']
const VITEST = ['node_modules/vitest/vitest.mjs', 'run', '--project']
const CLIENT_TESTS = [
  ...[
    'test/client/conformance.int.test.ts',
    'test/client/package.int.test.ts',
    'test/client/php-server.deep.int.test.ts',
  ],
  'test/docs/recipes.int.test.ts',
]
const DEVELOPER_TESTS = ['test/flow/packed-cli.deep.test.ts', 'test/flow/first-shop.deep.test.ts']
/** What every stage has: no table is sampled. */
const FULL = { EVERY_CASE: '1' }
/** Every stage: what it proves, the program that runs it, and what that needs: if nothing is named, what `npm test` needs. */
const STAGES = {
  cases: {
    what: 'all of `npm test`, with every case of the tables from which it tests a sample',
    args: ['scripts/test.mjs'],
  },
  seeds: {
    what: '2,000 simulated seeds, with every kind of fault and guarantee met',
    needs: [],
    args: [...SIMULATION, '--seeds', '2000'],
  },
  mutants: {
    what: 'each known bug, planted in the simulation and detected',
    needs: [],
    args: [...SIMULATION, '--mutants', '--report', 'docs/reports/simulation-mutants.md'],
  },
  properties: {
    what: '20,000 random scenarios for each guarantee of the state machine and of its figures',
    needs: [],
    args: [...VITEST, 'unit', 'shared/domain/invoice', 'shared/domain/books', 'shared/domain/reports/invoice-figures'],
    env: { PROPERTY_RUNS: '20000' },
  },
  sequences: {
    what: '500 random sequences against real chain nodes, 510 histories of EVM accounts against an oracle, 208 against both stores, six histories of figures, and races of 100 keys',
    args: [
      ...[...VITEST, 'integration'],
      ...['test/chaos/random-ethereum.int.test.ts', 'test/chaos/random-litecoin.int.test.ts'],
      ...['test/chaos/random-thrifty.int.test.ts', 'shared/db/reports/rollups.int.test.ts'],
      'test/worlds/random-worlds.int.test.ts',
      ...['test/simulation/store/sequences.int.test.ts', 'test/contract/idempotency-races.int.test.ts'],
    ],
    env: {
      CHAOS_RUNS: '500',
      WORLD_RUNS: '170',
      STORE_SEQUENCES: '4',
      RACE_KEYS: '100',
      RACE_ROUNDS: '4',
      ROLLUP_HISTORIES: '6',
    },
  },
  canaries: {
    what: '10,000 planted secrets, searched in all output of every process',
    args: [...VITEST, 'integration', 'test/security/canary-secrets.int.test.ts'],
    env: { CANARY_SHARE: '1' },
  },
  growth: {
    what: 'rows examined by every query in a database of 100,000 invoices',
    args: [...VITEST, 'integration', 'test/growth'],
    env: { GROWTH_INVOICES: '100000' },
  },
  outages: {
    what: '10,000 pending webhooks when their dispatcher dies',
    args: [...VITEST, 'flow', 'test/flow/faults.test.ts'],
    env: { OUTAGE_ROWS: '10000' },
  },
  chaos: { what: '40 faults on real processes', args: ['--import', 'tsx', 'test/chaos/run.ts', '--faults', '40'] },
  putback: {
    what: '400 invoices on real processes are lost with the database, which comes back from an archive, from former data files, and without a mark: no address and no number twice',
    args: [...VITEST, 'flow', 'test/flow/lost-minutes.deep.test.ts'],
    env: { LOST_INVOICES: '400' },
  },
  patterns: {
    what: 'the time of every regular expression, without the verdicts that are committed',
    needs: [],
    args: ['--import', 'tsx', 'dev/patterns/check-patterns.ts', '--again'],
  },
  looks: {
    what: 'every page, drawer and dialog of the dashboard and every state of the checkout at every width in both themes',
    args: [
      ...VITEST,
      'browser',
      ...['every-page', 'dialogs', 'checkout-states'].map((name) => `test/browser/${name}.test.ts`),
    ],
    env: { EVERY_LOOK: '1' },
  },
  clients: {
    what: 'our four clients in every scene of conformance, the recipes of the guide, the packed command line, a new developer in each language, and clients of ten generators and two collections of Postman in every operation of a later server',
    needs: [...TEST_REQUIREMENTS, 'javac', 'mvn', 'venv', 'php', 'ruby', 'mono'],
    args: [...VITEST, 'integration', ...CLIENT_TESTS],
    afterwards: [
      [...VITEST, 'flow', ...DEVELOPER_TESTS],
      ['--import', 'tsx', 'dev/generators/run.ts'],
    ],
  },
  fulfilment: {
    what: 'the sample shops in four languages in 209 sequences each: shipped once when paid, never otherwise, and money to return listed',
    needs: [...TEST_REQUIREMENTS, 'php'],
    args: [...VITEST, 'integration', 'test/shops'],
  },
  shops: {
    what: 'the plug-ins on a real Vendure and a real Medusa, with PostgreSQL and a whole Paymesh in test mode',
    needs: ['mongod', 'postgres'],
    args: ['--import', 'tsx', 'test/drills/shops/run.ts'],
  },
  walks: {
    what: '12 random walks of 200 steps in the browser, 10 of them with new seeds',
    args: [...VITEST, 'browser', 'test/browser/random-walk.test.ts'],
    env: { WALK_SEEDS: '1,2', WALK_COUNT: '10', WALK_STEPS: '200' },
  },
  models: {
    what: 'the models of deliveries and of the scanner in every state within their bounds, and each planted mistake found',
    needs: ['java', 'mvn'],
    args: ['--import', 'tsx', 'dev/check-models.ts'],
  },
  upgrade: {
    what: 'an upgrade from the release before under load, with processes of both side by side, once back and once more',
    args: ['--import', 'tsx', 'test/drills/upgrade/run.ts'],
  },
  image: {
    what: 'the container image, built without a daemon, with every process, the command line, a payment and doctor in it',
    needs: [...TEST_REQUIREMENTS, 'buildah', 'debootstrap'],
    args: ['--import', 'tsx', 'test/drills/image/run.ts'],
  },
  chart: {
    what: 'every rendering of the chart on a real API server of Kubernetes, with and without operators',
    args: ['--import', 'tsx', 'test/drills/chart/run.ts'],
  },
  deploy: {
    what: 'deploy/README.md followed literally, in one process and in one per type, from an empty machine to restore, update, going back and mishaps',
    needs: [...TEST_REQUIREMENTS, 'haproxy', 'openssl'],
    args: ['--import', 'tsx', 'test/drills/deploy/run.ts'],
  },
  fresh: {
    what: 'both pairs of commands of the README in a minimal Debian with nothing but Node and git, as root and as an ordinary user',
    needs: ['debootstrap'],
    args: ['--import', 'tsx', 'test/drills/fresh/run.ts'],
  },
}

const HELP = `npm run test:deep -- [stage …]   (all of them when none is named)

${Object.entries(STAGES)
  .map(([name, { what }]) => `  ${name.padEnd(10)} ${what}`)
  .join('\n')}

Each stage takes at most 80 minutes and writes docs/reports/deep-STAGE.md. --list prints their names. What is missing is installed with
apt-get as root on Debian and Ubuntu; --no-install leaves the system alone.
`

/** Stages that run: each has a process group, which ends with this process. */
const running = new Set()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, async () => {
    await Promise.all([...running].map((child) => child.stop(STOP_MS)))
    process.stdout.write(`\n${signal}\n0 passed, 1 failed\n`)
    process.exit(130)
  })
}

const git = (...args) => execFileSync('git', args, { encoding: 'utf8' }).trim()

/** Runs the programs of a stage one after the other, while they pass. */
async function runStage({ args, afterwards = [], env }) {
  const result = { hasPassed: true, output: '', minutes: 0 }
  for (const each of [args, ...afterwards]) {
    const { hasPassed, output, minutes } = await run({ args: each, env })
    Object.assign(result, { hasPassed, output: result.output + output, minutes: result.minutes + minutes })
    if (!hasPassed) break
  }
  return result
}

/** Runs a program and shows its output as it arrives; one that exceeds the limit is ended and has failed. */
async function run({ args, env = {} }) {
  const started = performance.now()
  const child = await startGuarded(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NO_COLOR: '1', ...FULL, ...env },
  })
  running.add(child)
  let output = ''
  const streams = [child.stdout, child.stderr]
  for (const stream of streams) {
    stream.setEncoding('utf8').on('data', (text) => {
      process.stdout.write(text)
      output += text
    })
  }
  const timer = setTimeout(() => {
    output += '\nEnded after 80 minutes.\n'
    void child.stop(STOP_MS)
  }, LIMIT_MS)
  await Promise.all(streams.map((stream) => once(stream, 'close')))
  const hasPassed = (await child.exited).code === 0
  running.delete(child)
  clearTimeout(timer)
  return { hasPassed, output, minutes: (performance.now() - started) / 60_000 }
}

/** The report of a stage, in Markdown; it does not name the folder in which the stage ran. */
function reportOf(name, { what, args, afterwards = [], env = {} }, { hasPassed, output, minutes }) {
  const settings = Object.entries({ ...FULL, ...env }).map(([key, value]) => `${key}=${value} `)
  const isChanged = git('status', '--porcelain', '--untracked-files=no', '--', ':!docs/reports') !== ''
  return `# Deep test: ${name}

${what[0].toUpperCase()}${what.slice(1)}: **${hasPassed ? 'passed' : 'failed'}** in ${minutes.toFixed(1)} minutes.

Made with \`npm run test:deep -- ${name}\` on ${new Date().toISOString().slice(0, 10)} at commit ${git('rev-parse', '--short', 'HEAD')}${isChanged ? ' with changes' : ''}
(\`${settings.join('')}node ${[args, ...afterwards].map((one) => one.join(' ')).join('; node ')}\`). The end of its output:

\`\`\`text
${output.replaceAll(process.cwd(), '.').trimEnd().split('\n').slice(-KEPT_LINES).join('\n')}
\`\`\`
`
}

/** Runs the named stages one after the other and writes their reports; resolves with those that failed. */
async function runAll(names, mayInstall) {
  const failed = []
  for (const name of names) {
    process.stdout.write(`\n── ${name}: ${STAGES[name].what} ──\n`)
    const report = (line) => void process.stdout.write(`${line}\n`)
    const missing = await bringRequirements(STAGES[name].needs ?? TEST_REQUIREMENTS, { mayInstall, report })
    if (missing !== null) {
      process.stdout.write(`${describeMissing(missing)}${name}: left out\n`)
      failed.push(name)
      continue
    }
    const result = await runStage(STAGES[name])
    writeFileSync(`docs/reports/deep-${name}.md`, reportOf(name, STAGES[name], result))
    if (!result.hasPassed) failed.push(name)
    process.stdout.write(`${name}: ${result.hasPassed ? 'passed' : 'failed'} (${result.minutes.toFixed(1)} minutes)\n`)
  }
  return failed
}

const args = process.argv.slice(2)
const stageNames = args.filter((arg) => arg !== '--no-install')
const [option] = stageNames
const unknown = stageNames.filter((name) => !Object.hasOwn(STAGES, name))
if (option === '--help') {
  process.stdout.write(HELP)
} else if (option === '--list') {
  process.stdout.write(`${Object.keys(STAGES).join('\n')}\n`)
} else if (unknown.length > 0) {
  process.stderr.write(`test:deep: there is no stage ${unknown.join(', ')}\n\n${HELP}`)
  process.exitCode = 2
} else {
  const names = stageNames.length > 0 ? stageNames : Object.keys(STAGES)
  const failed = await runAll(names, stageNames.length === args.length)
  if (failed.length > 0) process.stdout.write(`\nFailed: ${failed.join(', ')}\n`)
  process.stdout.write(`\n${names.length - failed.length} passed, ${failed.length} failed\n`)
  process.exitCode = failed.length === 0 ? 0 : 1
}
