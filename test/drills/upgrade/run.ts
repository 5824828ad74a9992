import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { ROOT } from '#scripts/bundle.mjs'
import { builtPages } from '#scripts/pages.mjs'
import { type Environment, keepSecrets, writeEnvironment } from '#scripts/start/environment.ts'
import { type Surroundings, startSurroundings } from '#scripts/start/stack.ts'
import { FREE_PORTS } from '#scripts/start/stack-options.ts'
import { connectDatabase } from '#shared/db/connection/connect.ts'
import { createLogger } from '#shared/runtime/observability/logger.ts'
import { seededRandom } from '#test/chaos/random.ts'
import { untilQuiet } from '#test/chaos/until-quiet.ts'
import { type Check, describeCheck, isKept } from '../checks.ts'
import { commandLineOf } from '../command-line.ts'
import { checkRecords, compareEvidence } from '../compare.ts'
import { startLoad } from '../load.ts'
import { createMerchants, type Merchant } from '../merchants.ts'
import { createPayer } from '../payers.ts'
import { checkOut, previousTag } from '../previous-release.ts'
import { createRequests, type Requests } from '../requests.ts'
import { untilPriced } from '../until-priced.ts'
import { type Doors, openDoors } from './doors.ts'
import { workBefore } from './earlier-work.ts'
import { checkCommands, checkFiles, checkMetrics } from './former-names.ts'
import { createRelease, type Release } from './release.ts'

const USAGE = `usage: npm run drill:upgrade -- [options]

Upgrades an installation under load: the earlier release works on real stores and a local chain, this release migrates
and runs beside it, the earlier one is ended, comes back once, and is ended for good. No request is repeated. The status
is 0 only when every check passed.

  --commit <commit>  the earlier release, taken from git (default: the newest tag before this commit; without
                       one, this commit)
  --against <dir>    a checkout of it with its packages, instead
  --seconds <s>      how long each phase lasts (20)
  --per-second <n>   invoices a second (1.5)
  --keep             keeps data and logs and prints where they are
`
const MERCHANTS = 2
const QUIET_MS = 240_000

const { values } = parseArgs({
  options: {
    commit: { type: 'string' },
    against: { type: 'string' },
    seconds: { type: 'string', default: '20' },
    'per-second': { type: 'string', default: '1.5' },
    keep: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

const startedAt = Date.now()
let phase = 'preparing'
const say = (line: string): void => {
  process.stdout.write(`${((Date.now() - startedAt) / 1_000).toFixed(1).padStart(7)} s  ${line}\n`)
}
const begin = (next: string): void => {
  phase = next
  say(next)
}

async function main(): Promise<number> {
  const phaseMs = Number(values.seconds) * 1_000
  const perSecond = Number(values['per-second'])
  if (!(phaseMs > 0 && perSecond > 0 && perSecond <= 5)) {
    process.stderr.write(USAGE)
    return 2
  }
  const { against, commit } = values
  const dir = mkdtempSync(join(tmpdir(), 'paymesh-upgrade-'))
  const undo: (() => Promise<void> | void)[] = []
  try {
    const folder = against === undefined ? earlierFolder(commit ?? previousTag() ?? 'HEAD', undo) : resolve(against)
    const installation = await openInstallation(dir, folder, undo)
    const checks = await upgrade(installation, { phaseMs, perSecond, undo })
    for (const check of checks) process.stdout.write(`${describeCheck(check)}\n`)
    const failed = checks.filter((check) => !isKept(check)).length
    process.stdout.write(`\n${checks.length - failed} passed, ${failed} failed\n`)
    return failed === 0 ? 0 : 1
  } finally {
    for (const step of undo.reverse()) await step()
    if (values.keep) say(`kept ${dir}`)
    else rmSync(dir, { recursive: true, force: true })
  }
}

function earlierFolder(commit: string, undo: (() => Promise<void> | void)[]): string {
  say(
    `the earlier release is ${commit}${commit === 'HEAD' ? ', because no release was made before: processes of this commit take its part' : ''}`,
  )
  const { folder, remove } = checkOut(commit)
  undo.push(remove)
  return folder
}

interface Installation {
  readonly dir: string
  readonly dataDir: string
  readonly around: Surroundings
  readonly doors: Doors
  readonly earlier: Release
  readonly later: Release
}

/** Stores, chain, exchanges and doors; processes of neither release run yet. */
async function openInstallation(
  dir: string,
  folder: string,
  undo: (() => Promise<void> | void)[],
): Promise<Installation> {
  begin('starting MongoDB, Redis, a chain and exchanges')
  const dataDir = join(dir, 'data')
  mkdirSync(dataDir)
  const common = { dataDir, ports: FREE_PORTS, networks: ['ethereum'] as const, report: say }
  const around = await startSurroundings({ ...common, mongoUrl: null, redisUrl: null, processes: true })
  undo.push(around.stop)
  const doors = await openDoors()
  undo.push(doors.stop)
  const environment = await environmentOf(dataDir, around, doors)
  writeEnvironment(dataDir, environment)
  const release = (label: string, at: string): Release => {
    const made = createRelease({ label, folder: at, environment, doors, logDir: dir })
    undo.push(() => made.stop(0))
    return made
  }
  return { dir, dataDir, around, doors, earlier: release('earlier', folder), later: release('later', ROOT) }
}

/** The settings of both releases. Pages are files of this release; what they ask is in the load. */
async function environmentOf(dataDir: string, around: Surroundings, doors: Doors): Promise<Environment> {
  return {
    PAYMESH_ENV: 'development',
    PAYMESH_WALLET_DELAY_HOURS: '0',
    MONGO_URL: around.mongoUrl,
    REDIS_URL: around.redisUrl ?? '',
    ...keepSecrets(dataDir),
    PAYMESH_PUBLIC_API_URL: doors.url('api'),
    PAYMESH_PUBLIC_CHECKOUT_URL: doors.url('checkout'),
    PAYMESH_PUBLIC_ADMIN_URL: doors.url('admin'),
    PAYMESH_PAGES_DIR: await builtPages(say),
    PAYMESH_ALLOW_LOCALHOST_WEBHOOKS: 'true',
    // Each payer has its own address, as behind a proxy.
    PAYMESH_TRUSTED_PROXIES: '1',
    PAYMESH_NETWORKS: JSON.stringify({ test: around.nodes }),
    PAYMESH_RATE_SOURCES: JSON.stringify(around.rateSourceUrls),
  }
}

/** The story of the upgrade; what came of it. */
async function upgrade(
  { dir, dataDir, around, doors, earlier, later }: Installation,
  options: { readonly phaseMs: number; readonly perSecond: number; readonly undo: (() => Promise<void> | void)[] },
): Promise<readonly Check[]> {
  const { phaseMs, perSecond, undo } = options
  const [cliBefore, cli] = [commandLineOf(earlier.folder, dataDir), commandLineOf(later.folder, dataDir)]
  const requests = createRequests(() => phase)
  const random = seededRandom('upgrade')

  begin('the earlier release migrates an empty database and starts')
  await cliBefore.json('migrate')
  await earlier.start()
  const merchants = await createMerchants(cliBefore, { count: MERCHANTS, apiUrl: doors.url('api'), dir, random })
  undo.push(() => closeAll(merchants))
  const rpcUrl = around.nodes.ethereum?.rpcUrls[0] ?? ''
  const urls = { checkoutUrl: doors.url('checkout'), adminUrl: doors.url('admin') }
  const load = { ...urls, merchants, requests, pay: createPayer(rpcUrl), perSecond, random }
  for (const { client } of merchants) await untilPriced(client)
  begin('the earlier release works: an invoice in each state')
  const outstanding = await Promise.all(merchants.map((merchant) => workBefore({ ...load, dataDir }, merchant)))
  begin('load on the earlier release')
  const running = startLoad(load)
  await delay(phaseMs)
  const metrics = await earlier.metricNames()

  begin('this release migrates while the earlier one works')
  await cli.json('migrate')
  begin('this release starts beside the earlier one')
  await later.start()
  begin('both releases work')
  await delay(phaseMs)
  begin('the earlier release ends')
  await earlier.stop()
  begin('this release works alone')
  for (const pay of outstanding.flat()) await pay()
  await delay(phaseMs)
  begin('going back: the earlier release starts again, this one ends')
  await earlier.start()
  await later.stop()
  begin('the earlier release works alone on migrated data')
  await delay(phaseMs)
  begin('this release comes back, the earlier one ends for good')
  await later.start()
  await earlier.stop()
  begin('this release works alone again')
  await delay(phaseMs)

  begin('the load ends')
  await running.finish()
  for (const { receivers } of merchants) receivers.calm()
  const logger = createLogger({ name: 'drill', level: 'silent' })
  const db = await connectDatabase({ url: around.mongoUrl, name: 'paymesh', logger })
  undo.push(() => db.close())
  begin('waiting until nothing is left to do')
  await untilQuiet({ db, ledger: merchants.flatMap(({ ledger }) => ledger.lines) }, QUIET_MS, say)
  begin('comparing')
  return [
    checkRequests(requests),
    ...(await compareEvidence(db, merchants)),
    ...(await checkRecords(cli)),
    ...(await checkCommands(cliBefore, cli)),
    checkMetrics(metrics),
    ...checkFiles(earlier.folder),
    checkProcesses([earlier, later]),
  ]
}

/** No request of merchants, payers and operators failed. */
function checkRequests({ counts, failures }: Requests): Check {
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0)
  return { promise: 'no request failed', checked: total, faults: failures }
}

/** No process of either release died, ended out of order or logged an error. */
function checkProcesses(releases: readonly Release[]): Check {
  return {
    promise: 'no process of either release died, ended out of order or logged an error',
    checked: releases.reduce((sum, { started }) => sum + started(), 0),
    faults: releases.flatMap((release) => release.faults()),
  }
}

async function closeAll(merchants: readonly Merchant[]): Promise<void> {
  for (const { receivers, ledger } of merchants) {
    await receivers.close()
    ledger.close()
  }
}

if (values.help) process.stdout.write(USAGE)
// Sockets that a receiver left in an odd state must not keep the drill from ending.
else process.exit(await main())
