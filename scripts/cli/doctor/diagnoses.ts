import type { Command } from 'commander'
import { type Installation, withInstallation } from '#scripts/cli/session/installation.ts'
import { nodeHosts } from '#shared/chains/check-nodes.ts'
import { errorText } from '#shared/contracts/error-text.ts'
import { within } from '#shared/contracts/within.ts'
import { driftFault } from '#shared/db/connection/clock.ts'
import { readMongoVersion } from '#shared/db/connection/store-version.ts'
import { createKeyCanaryRepository } from '#shared/db/installation/key-canary-repository.ts'
import { createInstanceReads } from '#shared/db/maintenance/installation-reads.ts'
import { createSealedSecretRepository } from '#shared/db/maintenance/sealed-secret-repository.ts'
import { createStoreRedundancy } from '#shared/db/maintenance/store-redundancy.ts'
import { readRestoreState } from '#shared/db/restore/restore-state.ts'
import { NotMigrated, verifyIndexes } from '#shared/db/schema/migrate.ts'
import { EVERY_NETWORK, type Mode, type NetworkId } from '#shared/domain/enumerations.ts'
import { WRITTEN_AT } from '#shared/domain/marks/mark-fields.ts'
import { classifyVersion } from '#shared/domain/store-versions.ts'
import { OUTBOX_SHARDS } from '#shared/ports/invoices.ts'
import type { Runtime } from '#shared/ports/runtime.ts'
import { readRedisServers } from '#shared/queues/redis/redis-servers.ts'
import { readGoLive } from '#shared/usecases/golive/read-go-live.ts'
import { compareKeys } from '#shared/usecases/maintenance/check-keys.ts'
import { redundancyHealth } from '#shared/usecases/maintenance/redundancy-health.ts'
import { readMarks } from '#shared/usecases/marks/mark-records.ts'
import { chainStatus } from '#shared/usecases/networks/chain-status.ts'
import { lagMarkMs } from '#shared/usecases/networks/network-lag.ts'
import { nodeCosts } from '#shared/usecases/networks/node-costs.ts'
import { troubleSentence } from '#shared/usecases/networks/stuck-network.ts'
import { newestSnapshot, oldRates } from '#shared/usecases/rates/newest-snapshot.ts'
import { rateHealth } from '#shared/usecases/rates/rate-health.ts'
import { factsText, factWarnings } from '../text/fact-notes.ts'
import { type OutputOptions, print } from '../text/output.ts'
import { checkBackup } from './check-backup.ts'
import { BACKLOG_AGE_MAX_MS, checkDeliveries } from './check-deliveries.ts'
import { nodeFaults, nodeShortcomings } from './node-faults.ts'

/** One check; `detail` is its result and, for a fault, the remedy. */
interface Diagnosis {
  readonly name: string
  readonly ok: boolean
  readonly detail: string
}

/** One is published every 15 s; after 120 s without one there are no prices. */
const RATE_AGE_MAX_MS = 60_000
/** An operator reads the other results even where one thing does not end. */
const CHECK_MAX_MS = 60_000
const SLOW_STORE =
  'the primary does not answer a ping within 2 s: all work waits for it. Look at its load, its disk and the network to it; nothing else was checked'
/** Workspaces whose go-live check is shown. */
const GO_LIVE_SHOWN = 20

async function check(name: string, run: () => Promise<string>): Promise<Diagnosis> {
  try {
    const detail = await within(run(), CHECK_MAX_MS)
    return { name, ok: detail !== null, detail: detail ?? `no result within ${CHECK_MAX_MS / 1_000} s` }
  } catch (error) {
    return { name, ok: false, detail: errorText(error) }
  }
}

function checkStores(installation: Installation, indexes: Promise<void>): readonly Promise<Diagnosis>[] {
  return [
    check('mongo', async () => {
      await indexes
      const version = await readMongoVersion(installation.db.connection.getClient())
      const { remark } = classifyVersion('MongoDB', version)
      return `reachable, all indexes exist${remark === null ? '' : `; remark: MongoDB ${version} is ${remark}`}`
    }),
    check('redundancy', async () => {
      const { faults, facts } = redundancyHealth(await createStoreRedundancy(installation.db).read())
      const text = [...faults, ...facts].join('; ')
      if (faults.length > 0 && installation.config.env === 'production') throw new Error(text)
      return text
    }),
    check('clock', async () => {
      const { driftMs } = installation.clock
      const fault = driftFault(driftMs)
      if (fault !== null) throw new Error(fault)
      return `${Math.abs(driftMs)} ms off MongoDB's clock`
    }),
    check('keys', async () => {
      const { db, secretBox, hasher } = installation
      const parts = { canary: createKeyCanaryRepository(db), sealed: createSealedSecretRepository(db) }
      const { isRecorded, fault } = await compareKeys({ ...parts, secretBox, hasher })
      if (fault !== null) throw new Error(fault)
      return isRecorded
        ? 'the master key and the pepper match this installation'
        : 'the first process that starts will record the keys of this installation'
    }),
    check('redis', () => checkRedis(installation)),
  ]
}

const withNode = ({ catalog }: Installation) =>
  EVERY_NETWORK.filter(({ mode, network }) => catalog.hasNode(network, mode))

/** Checks each configured network: is it scanned, what is its lag, is it halted or stuck, and did its scanner lose its lease? */
function checkNetworks(installation: Installation): readonly Promise<Diagnosis>[] {
  const statuses = chainStatus(installation)
  // The caller that awaits it gets the failure.
  statuses.catch(() => undefined)
  return withNode(installation).map(({ mode, network }) =>
    check(`${mode} ${network}`, async () => {
      const cursor = await installation.cursors.find(mode, network)
      if (cursor === null) throw new Error('no block has been scanned yet; is a scanner process running?')
      if (cursor.status === 'halted') throw new Error(`halted: ${cursor.haltReason ?? 'no reason recorded'}`)
      const lag = cursor.headHeight - cursor.height
      const seenMs = installation.clock.now() - cursor.headSeenAt
      if (seenMs > lagMarkMs(installation.catalog.blockTimeMs(network, mode)))
        throw new Error(`the node last responded ${Math.round(seenMs / 1000)} s ago`)
      const status = (await statuses).find((one) => one.mode === mode && one.network === network)
      if (status?.stuck) throw new Error(`${status.stuck.sentence} ${status.stuck.advice}`)
      if (status?.lease?.expired === true)
        throw new Error(
          'the lease of its scanner has expired: another scanner takes over within seconds, unless none is running',
        )
      if (status?.trouble) throw new Error(troubleSentence(status.trouble))
      const isBlind = installation.catalog.knowsFinality(network) && cursor.finalizedHeight === null
      const warning = isBlind
        ? '; its node reports no final block, so payments that require "finalized" never confirm'
        : ''
      const missing = cursor.missingTokens ?? []
      const refused =
        missing.length === 0 ? '' : `; warning: refused, as its node has no contract of it: ${missing.join(', ')}`
      const facts =
        status === undefined ? [] : [factsText(status), ...factWarnings(status).map((one) => `warning: ${one}`)]
      return `block ${cursor.height}, ${lag} behind the head${warning}${refused}; ${facts.join('; ')}`
    }),
  )
}

/** Each configured network: does every node respond, on the right chain? A node that is refused is named with the reason. */
function checkNodes(installation: Installation): readonly Promise<Diagnosis>[] {
  return withNode(installation).map(({ mode, network }) =>
    check(`${mode} ${network} nodes`, async () => {
      const { nodes, faults } = await nodeFaults(installation, mode, network)
      if (faults.length > 0) throw new Error(`${faults.length} of ${nodes} cannot be used: ${faults.join('; ')}`)
      const lacking = await nodeShortcomings(installation, mode, network)
      if (lacking.length > 0) throw new Error(lacking.join('; '))
      return nodes === 1 ? 'responds' : `all ${nodes} respond`
    }),
  )
}

/** Each network with a quota: how much of it is used this month. At 80 % a warning, at 95 % a fault. */
function checkQuotas(installation: Installation): readonly Promise<Diagnosis>[] {
  const { nodePrices } = installation
  const costs = nodeCosts(installation)
  // The caller that awaits it gets the failure.
  costs.catch(() => undefined)
  return EVERY_NETWORK.filter(({ mode, network }) => nodePrices.quota(mode, network) !== null).map(
    ({ mode, network }) =>
      check(`${mode} ${network} quota`, async () => {
        const state = (await costs).quotas.find((one) => one.mode === mode && one.network === network)
        if (state === undefined) throw new Error('no quota was read')
        const { sentence } = state
        if (state.level === 'critical') throw new Error(sentence ?? '')
        return sentence === null ? `${Math.floor(state.usedShare * 100)} % used this month` : `warning: ${sentence}`
      }),
  )
}

function checkWork(installation: Installation): readonly Promise<Diagnosis>[] {
  return [
    check('rates', async () => {
      const now = installation.clock.now()
      const snapshot = await newestSnapshot(installation.rates, now)
      const fault = await oldRates(installation.rates, now, RATE_AGE_MAX_MS)
      if (snapshot === null || fault !== null) throw new Error(fault ?? '')
      const { faults, warnings } = rateHealth(snapshot)
      const found = [...faults, ...warnings.map((warning) => `warning: ${warning}`)]
      const ageS = Math.round(Math.max(0, now - snapshot.at) / 1000)
      const text = [`${Object.keys(snapshot.usdPerSymbol).length} symbols, ${ageS} s old`, ...found]
      if (faults.length > 0) throw new Error(text.join('; '))
      return text.join('; ')
    }),
    check('outbox', async () => {
      const overdue = await installation.invoices.overdueOutboxShards(installation.clock.now() - BACKLOG_AGE_MAX_MS)
      if (overdue.length > 0)
        throw new Error(`${overdue.length} of ${OUTBOX_SHARDS} shards are behind; is webhooks running?`)
      return 'nothing is queued'
    }),
    check('maintenance', () => checkMaintenance(installation)),
    check('deliveries', () => checkDeliveries(installation)),
    check('mails', () => checkMails(installation)),
    check('go-live', () => checkGoLive(installation)),
    check('backup', () => checkBackup(installation)),
    check('marks', () => checkMarks(installation)),
    check('inbox', async () => {
      const open = await installation.exceptions.listOpen(null)
      return open.length === 0 ? 'no open exception' : `${open.length} open exceptions need a decision`
    }),
  ]
}

/** Every workspace that receives live payments: how far it went through the go-live check. Never a fault. */
async function checkGoLive(installation: Installation): Promise<string> {
  const workspaces = await installation.workspaces.list()
  const deps = {
    ...installation,
    nodeHosts: (mode: Mode, network: NetworkId) => nodeHosts(installation.config.networks, mode, network),
    // A mail is found by the mailer's sweep.
    notifier: { notify: () => undefined },
  }
  const lines: string[] = []
  for (const { id } of workspaces) {
    const own = (await installation.wallets.listWallets(id)).filter((wallet) => wallet.mode === 'live')
    if (own.every(({ disabledAt }) => disabledAt !== null)) continue
    if (lines.length === GO_LIVE_SHOWN) {
      lines.push('more workspaces are left out')
      break
    }
    const { lines: items, passed, isReady } = await readGoLive(deps, { workspaceId: id, mode: 'live' })
    const wrong = items.filter(({ state }) => state === 'failed' || state === 'out_of_date').map(({ item }) => item)
    const hint = isReady ? '' : `; see paymesh go-live --workspace ${id}`
    lines.push(
      `${id}: ${passed} of ${items.length} passed${wrong.length > 0 ? `, not ${wrong.join(', ')}` : ''}${hint}`,
    )
  }
  return lines.length === 0 ? 'no workspace receives live payments' : lines.join('; ')
}

/** This process's jobs run under leases; the audit chain's is renewed each second. */
async function checkMaintenance({ installationReads, clock }: Installation): Promise<string> {
  const lease = (await installationReads.leases()).find(({ id }) => id === 'audit-chain')
  if (lease === undefined || lease.until < clock.now())
    throw new Error('scheduled jobs (audit chain, retention, reconciliation) are not running; is maintenance running?')
  return 'scheduled jobs are running'
}

async function checkMails({ mailQueue, clock }: Installation): Promise<string> {
  const { waiting, overdue, failed } = await mailQueue.count(clock.now() - BACKLOG_AGE_MAX_MS)
  const lost = failed === 0 ? '' : `; ${failed} could not be delivered in the last week`
  if (overdue > 0)
    throw new Error(
      `${overdue} emails are overdue; is mailer running with PAYMESH_SMTP_URL and PAYMESH_MAIL_FROM set?${lost}`,
    )
  return `${waiting} queued${lost}`
}

/** Only of an installation whose restore nobody has confirmed: it takes payments and announces none of them. */
async function checkRestore({ db }: Installation): Promise<readonly Diagnosis[]> {
  // Without the store, `mongo` says so.
  const state = await readRestoreState(db).catch(() => null)
  if (state?.state !== 'held') return []
  const detail = `restored from the archive of ${state.takenAt}: no webhook and no email is sent until \`paymesh backup confirm-restore\``
  return [{ name: 'restore', ok: false, detail }]
}

/** Every check of `paymesh doctor`, in display order. A check never throws, and stores nothing. */
export async function runDiagnoses(installation: Installation): Promise<readonly Diagnosis[]> {
  // Whatever the other checks would find then, this is the cause.
  const alone = (detail: string) => [{ name: 'mongo', ok: false, detail }]
  if (!(await installation.db.isHealthy())) return alone(SLOW_STORE)
  const indexes = verifyIndexes(installation.db)
  const fault = await indexes.catch((error: unknown) => error)
  if (fault instanceof NotMigrated) return alone(fault.message)
  const checks = Promise.all([
    ...checkStores(installation, indexes),
    ...checkNetworks(installation),
    ...checkNodes(installation),
    ...checkQuotas(installation),
    ...checkWork(installation),
  ])
  return [...(await checks), ...(await checkRestore(installation))]
}

/** Longest time without a writing of the marks before it counts as a fault; they are written every ten seconds at least. */
const MARKS_AGE_MAX_MS = 60_000
const UNNOTICED =
  'a database that comes back from an earlier time, by another tool than `paymesh backup restore`, would issue the same addresses again, and nobody would notice'

/**
 * What was issued is recorded outside the database, in every configured place, and since when it is not. Throws when a place is not written, or none is
 * configured. Says in any case what nobody would notice.
 */
export async function checkMarks({
  markPlaces,
  markKeys,
  installationLife,
  clock,
}: Pick<Installation, 'markPlaces' | 'markKeys' | 'installationLife'> & Pick<Runtime, 'clock'>): Promise<string> {
  if (markPlaces.length === 0)
    throw new Error(
      `nothing outside the database holds what was issued: ${UNNOTICED}. Set PAYMESH_MARKS_DIR to a folder on another volume`,
    )
  const record = await installationLife.read()
  const faults: string[] = []
  for (const place of markPlaces) {
    const { marks, answered } = await readMarks([place], record, [WRITTEN_AT], markKeys)
    const writtenAt = marks.get(WRITTEN_AT)?.value
    if (answered.length === 0) faults.push(`${place.name} does not answer, so what is issued is not recorded there`)
    else if (writtenAt === undefined) faults.push(`${place.name} holds nothing yet; is invoices running?`)
    else if (clock.now() - writtenAt > MARKS_AGE_MAX_MS)
      faults.push(`${place.name} was last written at ${new Date(writtenAt).toISOString()}; is invoices running?`)
  }
  if (faults.length > 0) throw new Error(faults.join('; '))
  const names = markPlaces.map(({ name }) => name).join(' and ')
  return `what was issued is recorded in ${names}. If the database and ${names} were all put back to an earlier time together, nobody would notice`
}

/** Heartbeats are written every 15 s; an older one belongs to a process that was killed. */
const HEARTBEAT_AGE_MAX_MS = 50_000

/**
 * What Redis is to this installation: whether it did the work of the queues just now, its version and its policy for a full memory. What the server
 * does not say is a remark. Throws with the cause or the remedy when Redis is used and cannot be.
 */
export async function checkRedis({ redis, db, clock }: Pick<Installation, 'redis' | 'db' | 'clock'>): Promise<string> {
  if (redis !== null) return await checkUsedRedis(redis)
  const running = await createInstanceReads(db).processes(clock.now() - HEARTBEAT_AGE_MAX_MS)
  const users = [...new Set(running.map(({ name }) => name))].filter((name) => name !== 'serve').sort()
  if (users.length > 0)
    throw new Error(`REDIS_URL is not set here, but these processes use Redis: ${users.join(', ')}; set it as for them`)
  return 'not used: wake-ups stay in the memory of the one process'
}

async function checkUsedRedis(redis: NonNullable<Installation['redis']>): Promise<string> {
  const fault = redis.fault()
  if (fault !== null) throw new Error(`Redis ${fault}`)
  const servers = await readRedisServers(redis)
  const remarks = new Set<string>()
  for (const { version, evictionPolicy } of servers) {
    const found = classifyVersion('Redis', version)
    if (found.fault !== null) throw new Error(found.fault)
    if (found.remark !== null) remarks.add(version === null ? found.remark : `Redis ${version} is ${found.remark}`)
    if (evictionPolicy === null) remarks.add('maxmemory-policy cannot be read here: see to it that it is noeviction')
    else if (evictionPolicy !== 'noeviction')
      throw new Error(`maxmemory-policy is ${evictionPolicy}; set it to noeviction`)
  }
  const known = servers.every(({ evictionPolicy }) => evictionPolicy !== null) ? ', noeviction' : ''
  return [`takes and delivers wake-ups${known}`, ...[...remarks].map((remark) => `remark: ${remark}`)].join('; ')
}

/** `doctor`: checks the installation and suggests fixes; status 1 when there is a fault. */
export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .description('Check stores, indexes, clocks, nodes, rates and backlogs, and suggest a fix for each fault.')
    .option('--json', 'print one JSON value')
    .action(async (options: OutputOptions) => {
      const diagnose = async (installation: Installation): Promise<void> => {
        const diagnoses = await runDiagnoses(installation)
        const healthy = diagnoses.every((diagnosis) => diagnosis.ok)
        const text = diagnoses.map(({ ok, name, detail }) => `${ok ? '✓' : '✗'} ${name}: ${detail}`).join('\n')
        print(options, { healthy, checks: diagnoses }, text)
        if (!healthy) process.exitCode = 1
      }
      await withInstallation(diagnose, { isChecked: false })
    })
}
