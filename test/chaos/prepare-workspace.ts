import { setTimeout as delay } from 'node:timers/promises'
import { createPaymesh } from '#clients/typescript/src/main.ts'
import type { Stack } from '#scripts/start/stack.ts'
import { connectDatabase, type Database } from '#shared/db/connection/connect.ts'
import { ADDRESSES } from '#shared/db/wallets/wallet-models.ts'
import { createLogger } from '#shared/runtime/observability/logger.ts'
import { runCli } from '#test/support/world.ts'
import { MANNERS, type Manner, type Receivers } from './receivers.ts'

/** The merchants' side of an installation, and a connection to its store without faults. */
export interface PreparedWorkspace {
  readonly apiKeys: readonly string[]
  readonly endpoints: Readonly<Record<Manner, { readonly id: string; readonly secret: string }>>
  readonly db: Database
}

/** A key may send two requests a second; this leaves room for repetitions. */
const INVOICES_PER_KEY = 0.7

/**
 * Addresses that the scanner watches before anything breaks: about two minutes of invoices. After its first start an installation has a few, and a
 * scanner that stands still then would leave payers without an address, which is right and not what a fault is to show.
 */
const WATCHED_MIN = 400
const WATCHED_WITHIN_MS = 180_000
const POLL_EVERY_MS = 200

/** Registers every receiver for every event, and makes as many keys as the load needs. */
export async function prepareWorkspace(
  stack: Stack,
  receivers: Receivers,
  options: { readonly dataDir: string; readonly perSecond: number },
): Promise<PreparedWorkspace> {
  const { dev } = stack
  const admin = createPaymesh({ apiKey: dev.testKey, baseUrl: dev.apiUrl })
  const endpoints = await Promise.all(
    MANNERS.map(async (manner) => {
      const { id, secret } = await admin.webhookEndpoints.create({ url: receivers.urls[manner], events: ['*'] })
      return [manner, { id, secret }] as const
    }),
  )
  const apiKeys: string[] = []
  for (let made = 0; made < Math.ceil(options.perSecond / INVOICES_PER_KEY); made += 1) {
    const args = ['api-key', 'create', '--workspace', dev.workspaceId, '--mode', 'test', '--scopes', 'all']
    apiKeys.push((await runCli<{ apiKey: string }>(options.dataDir, args)).apiKey)
  }
  const logger = createLogger({ name: 'chaos', level: 'silent' })
  const db = await connectDatabase({ url: dev.mongoUrl, name: 'paymesh', logger })
  await untilWatched(db)
  return { apiKeys, endpoints: Object.fromEntries(endpoints) as PreparedWorkspace['endpoints'], db }
}

/** Throws when the scanner does not watch enough addresses within three minutes. */
async function untilWatched(db: Database): Promise<void> {
  const watched = { mode: 'test', family: 'evm', watchedOn: 'ethereum' } as const
  const endsAt = Date.now() + WATCHED_WITHIN_MS
  for (let count = 0; count < WATCHED_MIN; ) {
    if (Date.now() > endsAt) throw new Error(`the scanner watches ${count} of ${WATCHED_MIN} addresses`)
    await delay(POLL_EVERY_MS)
    count = await db.collection(ADDRESSES).countDocuments(watched)
  }
}
