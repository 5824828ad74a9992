import { CHAINS } from '#shared/chains/definitions/registry.ts'
import { driftFault } from '#shared/db/connection/clock.ts'
import { createKeyCanaryRepository } from '#shared/db/installation/key-canary-repository.ts'
import { createInstanceReads } from '#shared/db/maintenance/installation-reads.ts'
import { createSealedSecretRepository } from '#shared/db/maintenance/sealed-secret-repository.ts'
import { verifyIndexes } from '#shared/db/schema/migrate.ts'
import { MODES, NETWORK_IDS } from '#shared/domain/enumerations.ts'
import { OUTBOX_SHARDS } from '#shared/ports/invoices.ts'
import { checkKeys } from '#shared/usecases/maintenance/check-keys.ts'
import type { Installation } from './session/installation.ts'

/** One checked fact; `detail` says what was found and, for a fault, what to do. */
export interface Diagnosis {
  readonly name: string
  readonly ok: boolean
  readonly detail: string
}

/** Snapshots older than this are not used for pricing. */
const RATE_AGE_MAX_MS = 120_000
/** Work older than this should long have been swept. */
const BACKLOG_AGE_MAX_MS = 10_000

async function check(name: string, run: () => Promise<string>): Promise<Diagnosis> {
  try {
    return { name, ok: true, detail: await run() }
  } catch (error) {
    return { name, ok: false, detail: error instanceof Error ? error.message : String(error) }
  }
}

function checkStores(installation: Installation): readonly Promise<Diagnosis>[] {
  return [
    check('mongo', async () => {
      await verifyIndexes(installation.db)
      return 'reachable, every index is there'
    }),
    check('clock', async () => {
      const { driftMs } = installation.clock
      const fault = driftFault(driftMs)
      if (fault !== null) throw new Error(fault)
      return `${Math.abs(driftMs)} ms off the store's clock`
    }),
    check('keys', async () => {
      const { db, secretBox, hasher } = installation
      const parts = { canary: createKeyCanaryRepository(db), sealed: createSealedSecretRepository(db) }
      const fault = await checkKeys({ ...parts, secretBox, hasher })
      if (fault !== null) throw new Error(fault)
      return 'the master key and the pepper are those of this installation'
    }),
    check('redis', async () => {
      const answer = await installation.redis.producer.config('GET', 'maxmemory-policy')
      const policy = Array.isArray(answer) ? String(answer[1]) : 'unknown'
      if (policy !== 'noeviction') throw new Error(`maxmemory-policy is ${policy}; set it to noeviction`)
      return 'reachable, noeviction'
    }),
  ]
}

/** Each configured network: is it scanned, how far is it behind, and is it halted? */
function checkNetworks(installation: Installation): readonly Promise<Diagnosis>[] {
  return MODES.flatMap((mode) =>
    NETWORK_IDS.filter((network) => installation.catalog.hasNode(network, mode)).map((network) =>
      check(`${mode} ${network}`, async () => {
        const cursor = await installation.cursors.find(mode, network)
        if (cursor === null) throw new Error('no block was scanned yet; is a scanner process running?')
        if (cursor.status === 'halted') throw new Error(`halted: ${cursor.haltReason ?? 'no reason recorded'}`)
        const lag = cursor.headHeight - cursor.height
        const seenMs = installation.clock.now() - cursor.headSeenAt
        if (seenMs > 10 * CHAINS[network].blockTimeMs + 60_000)
          throw new Error(`the node was last heard of ${Math.round(seenMs / 1000)} s ago`)
        const isBlind = installation.catalog.knowsFinality(network) && cursor.finalizedHeight === null
        const warning = isBlind
          ? '; its node names no final block: payments that ask for "finalized" wait for ever'
          : ''
        return `block ${cursor.height}, ${lag} behind the head${warning}`
      }),
    ),
  )
}

function checkWork(installation: Installation): readonly Promise<Diagnosis>[] {
  return [
    check('rates', async () => {
      const snapshot = await installation.rates.latest()
      if (snapshot === null) throw new Error('no rate was ever published; is the rates process running?')
      const ageMs = installation.clock.now() - snapshot.at
      if (ageMs > RATE_AGE_MAX_MS) throw new Error(`the newest snapshot is ${Math.round(ageMs / 1000)} s old`)
      return `${Object.keys(snapshot.usdPerSymbol).length} symbols, ${Math.round(ageMs / 1000)} s old`
    }),
    check('outbox', async () => {
      const overdue = await installation.invoices.overdueOutboxShards(installation.clock.now() - BACKLOG_AGE_MAX_MS)
      if (overdue.length > 0) throw new Error(`${overdue.length} of ${OUTBOX_SHARDS} shards wait; is outbox running?`)
      return 'nothing waits'
    }),
    check('maintenance', () => checkMaintenance(installation)),
    check('deliveries', async () => {
      const due = await installation.deliveries.dueEndpoints(installation.clock.now() - BACKLOG_AGE_MAX_MS, 100)
      if (due.length > 0) throw new Error(`${due.length} endpoints have overdue deliveries; is webhooks running?`)
      return 'nothing is overdue'
    }),
    check('mails', () => checkMails(installation)),
    check('inbox', async () => {
      const open = await installation.exceptions.listOpen(null)
      return open.length === 0 ? 'no open exception' : `${open.length} open exceptions wait for an operator`
    }),
  ]
}

/** The jobs of this process run under leases, of which that of the audit chain is renewed each second. */
async function checkMaintenance({ db, clock }: Installation): Promise<string> {
  const lease = (await createInstanceReads(db).leases()).find(({ id }) => id === 'audit-chain')
  if (lease === undefined || lease.until < clock.now())
    throw new Error('nobody runs the scheduled jobs (audit chain, retention, reconciliation); is maintenance running?')
  return 'scheduled jobs run'
}

async function checkMails({ mailQueue, clock }: Installation): Promise<string> {
  const { waiting, overdue, failed } = await mailQueue.count(clock.now() - BACKLOG_AGE_MAX_MS)
  const lost = failed === 0 ? '' : `; ${failed} could not be delivered in the last week`
  if (overdue > 0)
    throw new Error(
      `${overdue} mails are overdue; does mailer run, with PAYMESH_SMTP_URL and PAYMESH_MAIL_FROM set?${lost}`,
    )
  return `${waiting} wait${lost}`
}

/** Every check of `paymesh doctor`, in the order they are shown. A check never throws. */
export async function runDiagnoses(installation: Installation): Promise<readonly Diagnosis[]> {
  return await Promise.all([...checkStores(installation), ...checkNetworks(installation), ...checkWork(installation)])
}
