import { randomBytes, randomUUID } from 'node:crypto'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { HDNodeWallet } from 'ethers'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type LocalChain, startLocalChain } from '#dev/local-chain/start-local-chain.ts'
import { fileTarget } from '#scripts/backup/archive-target.ts'
import { confirmRestore } from '#scripts/backup/confirm-restore.ts'
import { type RestoreOptions, restoreBackup } from '#scripts/backup/restore-backup.ts'
import { takeBackup } from '#scripts/backup/take-backup.ts'
import type { Stop } from '#services/context.ts'
import { start as startMailer } from '#services/mailer/main.ts'
import { start as startWebhooks } from '#services/webhooks/main.ts'
import { createChainClient, type OpenChainClient } from '#shared/chains/create-chain-client.ts'
import { createWatchIndex } from '#shared/chains/families/watch-index.ts'
import { createAuditRepository } from '#shared/db/audit/audit-repository.ts'
import { writeRestoreState } from '#shared/db/restore/restore-state.ts'
import { verifyIndexes } from '#shared/db/schema/migrate.ts'
import { createWalletRepository } from '#shared/db/wallets/wallet-repository.ts'
import type { Invoice } from '#shared/ports/invoices.ts'
import { endpointSecretContext } from '#shared/ports/secrets.ts'
import { createWebhookHttp } from '#shared/runtime/http/webhook-http.ts'
import type { ArchiveSecret } from '#shared/runtime/secrets/archive-cipher.ts'
import { createAuditKeys, createMarkKeys } from '#shared/runtime/secrets/audit-keys.ts'
import { createSecretBox } from '#shared/runtime/secrets/secret-box.ts'
import { createDispatcher } from '#shared/usecases/deliveries/dispatch.ts'
import { advanceInvoice } from '#shared/usecases/invoices/advance-invoice.ts'
import { createOutboxRelay } from '#shared/usecases/outbox/relay.ts'
import { type ChainScanner, startChainScanner } from '#shared/usecases/scanning/scan-chain.ts'
import { createIndexReclaimer } from '#shared/usecases/wallets/reclaim-indexes.ts'
import { addWallet } from '#test/support/add-wallet.ts'
import { dispatcherDeps } from '#test/support/dispatcher-deps.ts'
import { type Engine, openEngine, paymentMethodOf } from '#test/support/engine.ts'
import { serviceContext } from '#test/support/service-context.ts'
import { startSmtpSink } from '#test/support/smtp-sink.ts'
import { makeStoreFolder } from '#test/support/store-folder.ts'
import { type TestStores, useStores } from '#test/support/stores.ts'
import { startWebhookReceiver, type WebhookReceiver } from '#test/support/webhook-receiver.ts'

const CONFIRMATIONS = 3
const SKIP = 250
const DAY_MS = 86_400_000
const PATIENCE = { timeout: 20_000, interval: 50 }
const secret: ArchiveSecret = { kind: 'key', key: randomBytes(32) }
const first = useStores()
const second = useStores({ migrated: false })
const folder = makeStoreFolder('paymesh-drill')
const file = join(folder, 'paymesh.backup')
const stops: Stop[] = []
let chain: LocalChain
let receiver: WebhookReceiver
let engine: Engine

beforeAll(async () => {
  chain = await startLocalChain({ blockTimeMs: null })
  await chain.mine()
  receiver = await startWebhookReceiver()
  engine = await openEngine(first, node())
})
afterAll(async () => {
  await Promise.all(stops.map((stop) => stop()))
  await receiver.close()
  await chain.stop()
  rmSync(folder, { recursive: true, force: true })
})

const node = () => ({ ethereum: { rpcUrls: [chain.url], chainId: 31_337, confirmations: CONFIRMATIONS } })

/** A scanner on these stores until it has seen the head and every watch; returns what stops it. */
async function scanToHead(stores: TestStores, { deps }: Engine): Promise<Stop> {
  const client = createChainClient(
    { live: {}, test: node() },
    'test',
    'ethereum',
    stores.runtime.metrics,
  ) as OpenChainClient
  const scanner: ChainScanner = startChainScanner(deps, {
    ...{ mode: 'test', network: 'ethereum', family: 'evm', createIndex: createWatchIndex, client, pollMs: 20 },
    ...{ dropAfterMs: 500, finalityDepth: 65, batchMax: 50, development: true },
  })
  const head = Number(await chain.rpc('eth_blockNumber'))
  await vi.waitFor(async () => {
    scanner.wake()
    expect((await deps.cursors.find('test', 'ethereum'))?.height).toBeGreaterThanOrEqual(head)
    expect(await deps.wallets.unmarkedWatches('test', 'evm', 'ethereum', 1)).toEqual([])
  }, PATIENCE)
  return async () => {
    await scanner.stop()
    await client.close()
  }
}

async function pay(invoice: Invoice): Promise<void> {
  const paymentMethod = paymentMethodOf(invoice)
  await chain.pay({
    asset: 'usdt_ethereum',
    to: paymentMethod.address,
    amountBase: paymentMethod.quotes[0]?.amountBase ?? 0n,
  })
}

/** What the invoice and outbox workers do with what the scanner left. */
async function settle({ deps }: Engine, invoices: readonly Invoice[]): Promise<void> {
  for (const { terms } of invoices) await advanceInvoice(deps, terms.id)
  const relay = createOutboxRelay(deps)
  for (let shard = 0; shard < 8; shard += 1) await relay.relayShard(shard)
}

const rows = async (stores: TestStores, name: string) =>
  (await stores.db.connection.collection(name).find().sort({ _id: 1 }).toArray()) as Record<string, unknown>[]
const statusOf = async ({ deps }: Engine, { terms }: Invoice) => (await deps.invoices.findById(terms.id))?.state.status
const options = (change: Partial<RestoreOptions> = {}): RestoreOptions => ({
  ...{ file, secret, actor: 'cli:test', skip: SKIP, quarantineMs: 9 * DAY_MS, until: null, acceptUnreadable: false },
  onProgress: () => undefined,
  ...change,
})
const restoreDeps = () => ({
  ...second.runtime,
  db: second.db,
  wallets: createWalletRepository(second.db),
  addressBook: engine.addressBook,
  markPlaces: [],
  markKeys: createMarkKeys(new Uint8Array(32).fill(7)),
  auditKeys: createAuditKeys(new Uint8Array(32).fill(7)),
  secretBox: engine.secretBox,
})

describe('a back-up drill', () => {
  // Guards money: after the worst day no customer is given an address that another one holds, and nobody is told anything twice.
  it('brings everything back and keeps away from what was given out since', { timeout: 240_000 }, async () => {
    const endpoint = randomUUID()
    await engine.deps.endpoints.insert({
      ...{ id: endpoint, workspaceId: engine.workspace.id, url: receiver.url, events: ['*'], mode: 'test' },
      ...{ description: null, status: 'enabled', createdAt: Date.now(), updatedAt: Date.now(), opId: null },
      formerSecrets: [],
      inFlightMax: null,
      sealedSecrets: [
        engine.secretBox.seal(`whsec_${randomBytes(32).toString('base64')}`, endpointSecretContext(endpoint)),
      ],
    })
    const keys = HDNodeWallet.fromSeed(randomBytes(32)).derivePath("m/44'/60'/0'/0")
    const listed = [0, 1, 2].map((index) => keys.deriveChild(index).address)
    const wallet = { workspaceId: engine.workspace.id, mode: 'live', family: 'evm' } as const
    await addWallet({ ...engine.deps, ...engine }, { ...wallet, kind: 'pool', value: listed.slice(0, 2).join('\n') })
    await addWallet({ ...engine.deps, ...engine }, { ...wallet, kind: 'address', value: listed[2] ?? '' })
    const stopFirst = await scanToHead(first, engine)
    const invoices: Invoice[] = []
    for (let index = 0; index < 6; index += 1) invoices.push(await engine.open({ asset: 'usdt_ethereum' }))
    const [paid, paidAfterwards] = invoices as [Invoice, Invoice]
    await pay(paid)
    await chain.mine(CONFIRMATIONS + 1)
    await vi.waitFor(
      async () => expect(await rows(first, 'payments')).toMatchObject([{ state: 'confirmed' }]),
      PATIENCE,
    )
    await settle(engine, [paid])
    const http = createWebhookHttp()
    const dispatcher = createDispatcher(dispatcherDeps(first, { secretBox: engine.secretBox, http }))
    await dispatcher.drain('normal', endpoint)
    await settle(engine, invoices)
    await engine.open()
    await settle(engine, invoices)
    const sentBefore = new Set(receiver.requests.map(({ headers }) => String(headers['x-webhook-id'])))
    expect(sentBefore.size).toBeGreaterThan(0)

    const taken = await takeBackup(first.db, {
      ...{ target: fileTarget(file), id: 'drill', secret, version: 'test' },
      onProgress: () => undefined,
    })
    expect(taken.counts).toMatchObject({ invoices: 7, payments: 1, webhook_endpoints: 1 })
    const kept = [
      'invoices',
      'payments',
      'events',
      'webhook_deliveries',
      'workspaces',
      'webhook_endpoints',
      'exceptions',
    ]
    const before = Object.fromEntries(
      await Promise.all(kept.map(async (name) => [name, await rows(first, name)] as const)),
    )
    const addressesBefore = await rows(first, 'addresses')
    const [materialBefore] = (await engine.deps.wallets.listMaterials()).filter(({ id }) => id.startsWith('test:evm:'))

    // Life goes on: addresses and numbers are given out that the archive knows nothing of, and money arrives.
    const later: Invoice[] = []
    for (let index = 0; index < 5; index += 1) later.push(await engine.open({ asset: 'usdt_ethereum' }))
    await pay(paidAfterwards)
    await pay(later[0] as Invoice)
    await chain.mine(CONFIRMATIONS + 1)
    await settle(engine, [...invoices, ...later])
    await dispatcher.drain('normal', endpoint)
    await dispatcher.stop()
    await http.close()
    await stopFirst()
    await first.db.connection.dropDatabase()

    const restored = await restoreBackup(restoreDeps(), options())
    expect(restored.sealed.opened).toBe(restored.sealed.total)
    expect(restored.precautions).toMatchObject({ addresses: 3, scanners: 1 })
    for (const name of kept) expect(await rows(second, name)).toEqual(before[name])
    const addresses = new Map((await rows(second, 'addresses')).map((row) => [row['_id'], row]))
    for (const row of addressesBefore) {
      expect(addresses.get(row['_id'])).toMatchObject({ address: row['address'], index: row['index'] })
    }
    await expect(restoreBackup(restoreDeps(), options())).rejects.toThrow('is not empty')
    await verifyIndexes(second.db)

    const confirm = { db: second.db, clock: second.runtime.clock }
    const engineAgain = await openEngine(second, node())
    const { cursors, catalog, wallets } = engineAgain.deps
    await expect(
      confirmRestore({ ...confirm, cursors, catalog }, { actor: 'cli:test', unscanned: false }),
    ).rejects.toThrow('not scanned to the head since the restore: test:ethereum')

    const requestsBefore = receiver.requests.length
    const mails = await startSmtpSink()
    const env = {
      ...{ PAYMESH_ALLOW_LOCALHOST_WEBHOOKS: 'true', PAYMESH_SMTP_URL: mails.url, PAYMESH_MAIL_FROM: 'a@example.com' },
      PAYMESH_ENV: 'test',
    }
    stops.push(await startWebhooks(serviceContext(second, env)), await startMailer(serviceContext(second, env)))
    stops.push(await scanToHead(second, engineAgain), async () => mails.close())
    // The scanner confirms after it moved its cursor.
    await vi.waitFor(async () => {
      await settle(engineAgain, invoices)
      expect(await statusOf(engineAgain, paid)).toBe('paid')
      expect(await statusOf(engineAgain, paidAfterwards)).toBe('paid')
    }, PATIENCE)
    // Money to an address that was given out after the back-up is not lost: a person sees it.
    const unmatched = (await rows(second, 'payments')).filter((row) => row['invoiceId'] === null)
    expect(unmatched).toMatchObject([{ toAddress: paymentMethodOf(later[0] as Invoice).address }])

    const since: Invoice[] = []
    for (let index = 0; index < 24; index += 1) since.push(await engineAgain.open({ asset: 'usdt_ethereum' }))
    const known = new Set([...invoices, ...later].map((invoice) => paymentMethodOf(invoice).matchKey))
    const fresh = since.map((invoice) => paymentMethodOf(invoice).matchKey)
    expect(fresh.filter((matchKey) => known.has(matchKey))).toEqual([])
    const found = await wallets.findAddresses('test', 'evm', fresh)
    for (const { index } of found) expect(index).toBeGreaterThanOrEqual((materialBefore?.nextIndex ?? 0) + SKIP)
    const highest = Math.max(...invoices.map(({ terms }) => terms.number))
    expect(await engineAgain.deps.invoices.highestNumber(engine.workspace.id, 'test')).toBeGreaterThan(
      highest + SKIP - 2,
    )
    for (const row of await rows(second, 'addresses')) {
      const held = (row['heldBy'] as string[] | undefined)?.[0]
      if (held === undefined) continue
      const from = (row['offeredFrom'] as Record<string, number>)[held]
      expect(from).toBeGreaterThan(Date.now() + 8 * DAY_MS)
    }
    // What was skipped is not taken for a gap, however long it stays without an invoice.
    const reclaimer = createIndexReclaimer(engineAgain.deps)
    await reclaimer.run()
    engineAgain.advance(2 * 3_600_000)
    await reclaimer.run()
    const [material] = (await wallets.listMaterials()).filter(({ id }) => id === materialBefore?.id)
    expect(material?.returned.filter((index) => index < (material.reclaimFrom ?? 0))).toEqual([])

    await wait(2_500)
    expect(receiver.requests.length).toBe(requestsBefore)
    expect(mails.mails).toHaveLength(0)
    const overrun = await confirmRestore({ ...confirm, cursors, catalog }, { actor: 'cli:test', unscanned: false })
    expect(overrun).toEqual({ overrun: [] })
    await vi.waitFor(async () => {
      const states = (await rows(second, 'webhook_deliveries')).map((row) => row['status'])
      expect(new Set(states)).toEqual(new Set(['succeeded']))
    }, PATIENCE)
    const sent = receiver.requests.slice(requestsBefore).map(({ headers }) => String(headers['x-webhook-id']))
    expect(new Set(sent).size).toBe(sent.length)
    expect(sent.filter((id) => sentBefore.has(id))).toEqual([])
    const operations = await createAuditRepository(second.db).listBySubject('installation')
    expect(operations.map(({ action }) => action)).toEqual(['installation.restored', 'installation.restore_confirmed'])
  })
})

describe('a restore', () => {
  const empty = useStores({ migrated: false })
  const deps = () => ({ ...restoreDeps(), db: empty.db, wallets: createWalletRepository(empty.db) })
  const collections = async () => (await empty.db.connection.listCollections()).map(({ name }) => name)

  // Guards data: a bad archive, or the wrong key, changes nothing.
  it('writes nothing unless all of the archive is sound and can be read', async () => {
    const sound = readFileSync(file)
    const bent = Buffer.from(sound)
    bent[bent.length - 40] = (bent[bent.length - 40] ?? 0) ^ 1
    const bad = join(folder, 'bad.backup')
    for (const [bytes, words] of [
      [sound.subarray(0, sound.length - 100), /truncated/],
      [bent, /modified or damaged/],
      [Buffer.from('hello'), /not a backup/],
    ] as const) {
      writeFileSync(bad, bytes)
      await expect(restoreBackup(deps(), options({ file: bad }))).rejects.toThrow(words)
    }
    const wrong: ArchiveSecret = { kind: 'key', key: randomBytes(32) }
    await expect(restoreBackup(deps(), options({ secret: wrong }))).rejects.toThrow('does not match this archive')
    const stranger = { ...deps(), secretBox: createSecretBox(randomBytes(32)) }
    await expect(restoreBackup(stranger, options())).rejects.toThrow('sealed values cannot be opened')
    expect(await collections()).toEqual([])
  })

  it('that did not end lets no process start', async () => {
    const at = new Date().toISOString()
    await writeRestoreState(empty.db, { state: 'writing', takenAt: at, restoredAt: at, skip: 1 })
    await expect(verifyIndexes(empty.db)).rejects.toThrow('drop the database and restore again')
  })
})
