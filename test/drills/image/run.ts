import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { freePort } from '#dev/embedded/free-port.ts'
import { ROOT } from '#scripts/bundle.mjs'
import { type Environment, keepSecrets } from '#scripts/start/environment.ts'
import { readProcfile } from '#scripts/start/procfile.ts'
import { type Surroundings, startSurroundings } from '#scripts/start/stack.ts'
import { FREE_PORTS } from '#scripts/start/stack-options.ts'
import { seededRandom } from '#test/chaos/random.ts'
import { startSmtpSink } from '#test/support/smtp-sink.ts'
import { type Check, describeCheck, isKept } from '../checks.ts'
import { createMerchants } from '../merchants.ts'
import { createPayer } from '../payers.ts'
import { untilPriced } from '../until-priced.ts'
import { makeBaseImage } from './base-image.ts'
import { type Buildah, type ImageConfig, openBuildah } from './buildah.ts'
import {
  type ContainerProcess,
  commandLineInside,
  createRunInside,
  endInside,
  type RunInside,
  startInside,
} from './containers.ts'
import { checkContents } from './contents.ts'

const USAGE = `usage: npm run drill:image -- [options]

Builds the container image from deploy/Dockerfile with buildah, hence without a daemon, on a base image made with
debootstrap; then starts every process of the Procfile in it with production settings, runs the command line and
\`doctor\` in it, and lets it take a payment. Needs root, buildah, debootstrap, MongoDB, Redis and anvil. The status is
0 only when every check passed.

  --keep   keeps images, data and logs and prints where they are
`
const BASE = 'localhost/paymesh-drill-base:latest'
const IMAGE = 'localhost/paymesh-drill:latest'
const SETTLED_MS = 120_000
/** What a fresh installation cannot have yet. */
const EXPECTED_FAULTS = /back-?up/i

const { values } = parseArgs({
  options: { keep: { type: 'boolean', default: false }, help: { type: 'boolean', default: false } },
})

const startedAt = Date.now()
const say = (line: string): void => {
  process.stdout.write(`${((Date.now() - startedAt) / 1_000).toFixed(1).padStart(7)} s  ${line}\n`)
}

async function main(): Promise<number> {
  const dir = mkdtempSync(join(tmpdir(), 'paymesh-image-'))
  const undo: (() => unknown)[] = []
  try {
    const checks = await drill(dir, undo)
    for (const check of checks) process.stdout.write(`${describeCheck(check)}\n`)
    const failed = checks.filter((check) => !isKept(check)).length
    process.stdout.write(`\n${checks.length - failed} passed, ${failed} failed\n`)
    return failed === 0 ? 0 : 1
  } catch (error) {
    process.stderr.write(
      `drill:image: ${error instanceof Error ? error.message : String(error)}\n\n0 passed, 1 failed\n`,
    )
    return 1
  } finally {
    for (const step of undo.reverse()) await step()
    if (values.keep) say(`kept ${dir}`)
    else rmSync(dir, { recursive: true, force: true })
  }
}

async function drill(dir: string, undo: (() => unknown)[]): Promise<readonly Check[]> {
  const buildah = await openBuildah(dir)
  say('making the base image')
  await makeBaseImage(buildah, dir, BASE)
  say('building the image')
  await build(buildah, dir)
  const config = await buildah.config(IMAGE)
  const [base, whole] = [await buildah.bytes(BASE), await buildah.bytes(IMAGE)]
  say(`the image adds ${((whole - base) / 1e6).toFixed(1)} MB to its base of ${(base / 1e6).toFixed(1)} MB`)
  const container = await buildah.run(['from', '--pull-never', IMAGE])
  say('looking at what it holds')
  const runInside = createRunInside(buildah, container, dir)
  const contents = await checkContents(buildah, container, { config, runInside })

  say('starting MongoDB, Redis, a chain and exchanges')
  const common = { dataDir: join(dir, 'data'), ports: FREE_PORTS, networks: ['ethereum'] as const, report: say }
  const around = await startSurroundings({ ...common, mongoUrl: null, redisUrl: null, processes: true })
  undo.push(around.stop)
  const mailServer = await startSmtpSink()
  undo.push(mailServer.close)
  const environment = await productionSettings(join(dir, 'data'), around, mailServer.url)
  return [...contents, ...(await work({ buildah, container, runInside, config, environment, around, dir, undo }))]
}

/** The packages are fetched with this machine's certificates and this user's settings of npm. */
async function build(buildah: Buildah, dir: string): Promise<void> {
  const settings = join(dir, 'npmrc')
  const own = join(homedir(), '.npmrc')
  const certificates = '/etc/ssl/certs/ca-certificates.crt'
  writeFileSync(settings, `${existsSync(own) ? readFileSync(own, 'utf8') : ''}\ncafile=${certificates}\n`)
  await buildah.run([
    ...['bud', '--quiet', '--isolation', 'chroot', '--pull-never', '--network', 'host', '--format', 'docker'],
    ...['--build-arg', `NODE_IMAGE=${BASE}`],
    ...['--volume', `${certificates}:${certificates}:ro`, '--volume', `${settings}:/root/.npmrc:ro`],
    ...['--file', join(ROOT, 'deploy/Dockerfile'), '--ignorefile', join(ROOT, 'deploy/Dockerfile.dockerignore')],
    ...['--tag', IMAGE, ROOT],
  ])
}

/** `PAYMESH_ENV=production` and the folder of the pages come from the image. The webhook receivers of the drill are on this machine. */
async function productionSettings(dataDir: string, around: Surroundings, mailUrl: string): Promise<Environment> {
  const port = async () => String(await freePort(0))
  return {
    PAYMESH_ACCEPTED_RISKS: 'localhost-webhooks',
    PAYMESH_ALLOW_LOCALHOST_WEBHOOKS: 'true',
    MONGO_URL: around.mongoUrl,
    REDIS_URL: around.redisUrl ?? '',
    ...keepSecrets(dataDir),
    PAYMESH_API_PORT: await port(),
    PAYMESH_CHECKOUT_PORT: await port(),
    PAYMESH_ADMIN_PORT: await port(),
    PAYMESH_MAILBOX_PORT: '0',
    PAYMESH_SMTP_URL: mailUrl,
    PAYMESH_MAIL_FROM: 'billing@shop.test',
    PAYMESH_PUBLIC_API_URL: 'https://api.shop.test',
    PAYMESH_PUBLIC_CHECKOUT_URL: 'https://pay.shop.test',
    PAYMESH_PUBLIC_ADMIN_URL: 'https://admin.shop.test',
    PAYMESH_NETWORKS: JSON.stringify({ test: around.nodes }),
    PAYMESH_RATE_SOURCES: JSON.stringify(around.rateSourceUrls),
  }
}

interface Work {
  readonly buildah: Buildah
  readonly container: string
  readonly runInside: RunInside
  readonly config: ImageConfig
  readonly environment: Environment
  readonly around: Surroundings
  readonly dir: string
  readonly undo: (() => unknown)[]
}

/** Every process in its container, the command line beside them, and one paid invoice. */
async function work({
  buildah,
  container,
  runInside,
  config,
  environment,
  around,
  dir,
  undo,
}: Work): Promise<readonly Check[]> {
  const cli = commandLineInside(runInside, environmentOfCommandLine(environment))
  say('migrating an empty database')
  await cli.json('migrate')
  const running: ContainerProcess[] = []
  const stopAll = async () => (await Promise.all(running.splice(0).map(endInside))).flat()
  undo.push(stopAll)
  for (const line of readProcfile(ROOT)) {
    say(`starting ${line.name}`)
    running.push(await startInside(buildah, container, { line, environment, logDir: dir }))
  }
  const started = running.length
  const [, ...probe] = config.healthcheck
  const unhealthy: string[] = []
  for (const { name, metricsPort } of running) {
    const env = { PAYMESH_METRICS_PORT: String(metricsPort) }
    const { status } = await runInside(env, probe)
    if (status !== 0) unhealthy.push(`${name}: the health check ended with ${status}`)
  }
  const dead = await runInside({ PAYMESH_METRICS_PORT: String(await freePort(0)) }, probe)
  if (dead.status === 0) unhealthy.push('the health check passes where nothing listens')

  say('a merchant, an invoice and its payment')
  const apiUrl = `http://127.0.0.1:${environment['PAYMESH_API_PORT']}`
  const random = seededRandom('image')
  const [merchant] = await createMerchants(cli, { count: 1, apiUrl, dir, random })
  if (merchant === undefined) throw new Error('no merchant was created')
  undo.push(async () => {
    await merchant.receivers.close()
    merchant.ledger.close()
  })
  await untilPriced(() => merchant.client())
  const invoice = await merchant.client().invoices.create({ amount: '12.00', currency: 'USD', asset: 'usdt_ethereum' })
  if (invoice.crypto === null) throw new Error('the invoice has no address')
  const pay = createPayer(around.nodes.ethereum?.rpcUrls[0] ?? '')
  await pay(merchant.ledger, invoice.id, invoice.crypto.address, BigInt(invoice.crypto.amount_base_units))
  let status = invoice.status
  for (const until = Date.now() + SETTLED_MS; status !== 'paid' && Date.now() < until; await delay(500)) {
    status = (await merchant.client().invoices.get(invoice.id)).status
  }
  const announced = () => merchant.receivers.arrivals.some(({ body }) => body.includes('"invoice.paid"'))
  for (const until = Date.now() + SETTLED_MS; !announced() && Date.now() < until; ) await delay(200)

  say('doctor')
  const doctor = await cli.run('doctor', '--json')
  const { checks: diagnoses } = JSON.parse(doctor.stdout) as {
    readonly checks: readonly { readonly ok: boolean; readonly name: string; readonly detail: string }[]
  }
  say('ending the processes')
  const ends = await stopAll()
  return [
    { promise: 'every process of the Procfile became ready and is healthy', checked: started, faults: unhealthy },
    {
      promise: 'an invoice is paid on the chain and announced',
      checked: 1,
      faults: [
        ...(status === 'paid' ? [] : [`the invoice is ${status}`]),
        ...(announced() ? [] : ['no invoice.paid arrived']),
      ],
    },
    {
      promise: 'doctor finds nothing wrong but a missing back-up',
      checked: diagnoses.length,
      faults: diagnoses
        .filter(({ ok, name }) => !ok && !EXPECTED_FAULTS.test(name))
        .map(({ name, detail }) => `${name}: ${detail}`),
    },
    { promise: 'every process ends in order when it is asked to', checked: started, faults: ends },
  ]
}

/** What the command line reads; every setting of the drill is one of its settings or of a process only. */
const environmentOfCommandLine = (environment: Environment): Environment =>
  Object.fromEntries(Object.entries(environment).filter(([name]) => !/_PORT$/.test(name)))

if (values.help) process.stdout.write(USAGE)
else process.exit(await main())
