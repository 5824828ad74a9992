import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { bundled } from '#scripts/bundle.mjs'
import { SERVICE_NAMES } from '#scripts/service/services.ts'
import { persist } from '#shared/db/backup/read-at.ts'
import { dealFaults, describeFault, type Fault, OUTAGES, OUTAGES_SCALE } from './fault-deck.ts'
import { inject } from './inject.ts'
import { type Installation, startInstallation } from './installation.ts'
import { openLedger } from './ledger.ts'
import { startMerchant } from './merchant.ts'
import { prepareWorkspace } from './prepare-workspace.ts'
import { seededRandom } from './random.ts'
import { renderReport } from './report.ts'
import { untilQuiet } from './until-quiet.ts'
import { evaluate, type Verdict } from './verdict.ts'

const USAGE = `usage: npm run chaos -- [options]

Starts every process of the Procfile, a MongoDB replica set of three, Redis, a chain and four webhook receivers, lets
merchants and payers work, and breaks one thing after another. At the end the merchants' book, the store and the
receivers are compared. The status is 0 only when nothing was lost, doubled, forged or early.

  --faults <n>      things that go wrong (40; about six seconds each)
  --list            the faults of an hour in service in their order, again and again, instead of random ones
  --seed <s>        the same faults in the same order again (default: from the time)
  --per-second <n>  invoices a second (3)
  --quiet <s>       how long to wait at the end; a retry planned for later counts as waiting then (150)
  --retries <s>     a retry planned for later than in so many seconds is not waited for (as --quiet; at least 15)
  --report <file>   writes a report in Markdown there
  --keep            keeps the data folder and prints where it is
`
/** Pause between the end of a fault and the next one. */
const PAUSE_MS = 2_000
/** The verdict takes less than this: a retry that becomes due before it counts as lost. */
const RETRIES_MIN_MS = 15_000
/** The first invoices are created without faults. */
const FAIR_MS = 5_000

const { values } = parseArgs({
  options: {
    faults: { type: 'string', default: '40' },
    list: { type: 'boolean', default: false },
    seed: { type: 'string' },
    'per-second': { type: 'string', default: '3' },
    quiet: { type: 'string', default: '150' },
    retries: { type: 'string' },
    report: { type: 'string' },
    keep: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

const startedAt = Date.now()
const say = (line: string): void => {
  const seconds = ((Date.now() - startedAt) / 1_000).toFixed(1).padStart(7)
  process.stdout.write(`${seconds} s  ${line}\n`)
}

async function main(): Promise<number> {
  const faults = Number(values.faults)
  const perSecond = Number(values['per-second'])
  const quietMs = Number(values.quiet) * 1_000
  const retriesWithinMs = values.retries === undefined ? undefined : Number(values.retries) * 1_000
  const isPatient = quietMs > 0 && (retriesWithinMs === undefined || retriesWithinMs >= RETRIES_MIN_MS)
  if (!(Number.isInteger(faults) && faults > 0 && perSecond > 0 && perSecond <= 50 && isPatient)) {
    process.stderr.write(USAGE)
    return 2
  }
  const seed = values.seed ?? String(Date.now())
  const dir = mkdtempSync(join(tmpdir(), 'paymesh-chaos-'))
  let installation: Installation | null = null
  try {
    await bundled('scripts/service/main.ts', say)
    say(`seed ${seed}; starting a replica set, Redis, a chain and ${SERVICE_NAMES.length} processes …`)
    installation = await startInstallation({
      dir,
      random: seededRandom(`${seed}:receivers`),
      report: say,
      scale: values.list ? OUTAGES_SCALE : {},
    })
    const verdict = await breakIt(installation, { dir, seed, faults, perSecond, quietMs, retriesWithinMs })
    return Object.values(verdict.breaches).every((lines) => lines.length === 0) ? 0 : 1
  } finally {
    await installation?.stop()
    if (values.keep) say(`kept ${dir}`)
    else rmSync(dir, { recursive: true, force: true })
  }
}

async function breakIt(
  installation: Installation,
  options: {
    dir: string
    seed: string
    faults: number
    perSecond: number
    quietMs: number
    retriesWithinMs: number | undefined
  },
): Promise<Verdict> {
  const { dir, seed, faults, perSecond, retriesWithinMs } = options
  const { stack, receivers, apiUrl, rpcUrl } = installation
  const workspace = await prepareWorkspace(stack, receivers, { dataDir: join(dir, 'data'), perSecond })
  const ledger = openLedger(join(dir, 'ledger.jsonl'))
  const random = seededRandom(`${seed}:load`)
  const merchant = startMerchant({ apiUrl, rpcUrl, apiKeys: workspace.apiKeys, ledger, perSecond, random })
  const injected: Fault[] = []
  await delay(FAIR_MS)
  const chance = seededRandom(`${seed}:faults`)
  const listed = Array.from({ length: faults }, (_, index) => OUTAGES[index % OUTAGES.length] as Fault)
  const deck = values.list ? listed : dealFaults(faults, SERVICE_NAMES, chance)
  for (const [index, fault] of deck.entries()) {
    say(`${String(index + 1).padStart(String(faults).length)}/${faults}  ${describeFault(fault)}`)
    // The verdict checks a process that takes long to restart; its supervisor keeps trying.
    await inject(installation, fault, chance).catch((error: unknown) => say(`   … ${String(error)}`))
    injected.push(fault)
    await delay(PAUSE_MS)
  }
  say('no more faults; the last invoices are paid …')
  receivers.calm()
  await merchant.finish()
  const quiet = { db: workspace.db, ledger: ledger.lines, ...(retriesWithinMs !== undefined && { retriesWithinMs }) }
  const quietMs = await throughElections(() => untilQuiet(quiet, options.quietMs, say))
  say('comparing record, store and receivers …')
  const evidence = { ...workspace, ledger: ledger.lines, arrivals: receivers.arrivals }
  const verdict = await throughElections(() => evaluate(evidence))
  const report = renderReport({
    seed,
    injected,
    verdict,
    waits: merchant.waits,
    quietMs,
    tookMs: Date.now() - startedAt,
  })
  process.stdout.write(`\n${report}\n`)
  if (values.report !== undefined) writeFileSync(values.report, `${report}\n`)
  ledger.close()
  await workspace.db.close()
  return verdict
}

/** The result of a read that is repeated after an election: a busy machine causes elections without a planned fault. */
async function throughElections<T>(read: () => Promise<T>): Promise<T> {
  const results = persist(async function* () {
    yield await read()
  })
  for await (const result of results) return result
  throw new Error('a read has one result')
}

if (values.help) process.stdout.write(USAGE)
// Sockets in an odd state after a fault must not keep the run from ending.
else process.exit(await main())
