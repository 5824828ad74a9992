import type mongoose from 'mongoose'
import { AUDIT_LOG } from '#shared/db/audit/audit-model.ts'
import type { CollectionModel } from '#shared/db/connection/collection-model.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { WEBHOOK_ATTEMPTS, WEBHOOK_DELIVERIES } from '#shared/db/deliveries/delivery-model.ts'
import { createEndpointRepository } from '#shared/db/deliveries/endpoint-repository.ts'
import { EVENTS } from '#shared/db/events/event-model.ts'
import { EXCEPTIONS } from '#shared/db/exceptions/exception-model.ts'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { createPaymentLinkRepository } from '#shared/db/payment-links/payment-link-repository.ts'
import { PAYMENTS } from '#shared/db/payments/payment-model.ts'
import { createRollups } from '#shared/db/reports/rollups.ts'
import { createCursorRepository } from '#shared/db/scanning/cursor-repository.ts'
import { ADDRESSES } from '#shared/db/wallets/wallet-models.ts'
import { createWalletRepository } from '#shared/db/wallets/wallet-repository.ts'
import {
  BUSY,
  CHAIN,
  DAY_MS,
  ENDPOINTS,
  EVENT_LIFE_DAYS,
  type Facts,
  factsOf,
  isPaid,
  MATERIAL,
  MODE,
  NETWORK,
} from './facts.ts'
import { addressAt, heightAt, invoiceAt, paymentAt } from './seed-money.ts'
import { attemptsAt, auditAt, deliveriesAt, eventsAt, exceptionAt } from './seed-records.ts'

const BATCH = 1_000

/**
 * Fills an empty database with what a busy installation has stored after two years, in the stored shape: `invoices` invoices, nine of
 * ten in one workspace, and all that follows from them, without what is past its life. Reports each tenth. `index` runs before the figures
 * are counted, for a database without indexes until then.
 */
export async function seedGrowth(
  db: Database,
  invoices: number,
  report: (line: string) => void = () => undefined,
  index: () => Promise<unknown> = async () => undefined,
): Promise<Facts> {
  const facts = factsOf(invoices, Date.now())
  await seedFew(db, facts)
  const eventsFrom = facts.now - EVENT_LIFE_DAYS * DAY_MS
  const tenth = Math.ceil(invoices / 10 / BATCH) * BATCH
  // A batch is made while the store writes the one before.
  let writing: Promise<unknown> = Promise.resolve()
  for (let from = 0; from < invoices; from += BATCH) {
    const indexes = Array.from({ length: Math.min(BATCH, invoices - from) }, (_, offset) => from + offset)
    const lately = indexes.filter((index) => facts.createdAt(index) >= eventsFrom)
    const of = <T>(rows: readonly number[], make: (facts: Facts, index: number) => T | T[]): T[] =>
      rows.flatMap((index) => make(facts, index))
    const inserts = [
      insert(db, INVOICES, of(indexes, invoiceAt)),
      insert(db, PAYMENTS, of(indexes.filter(isPaid), paymentAt)),
      insert(db, ADDRESSES, of(indexes, addressAt)),
      insert(db, EVENTS, of(lately, eventsAt)),
      insert(db, WEBHOOK_DELIVERIES, of(lately, deliveriesAt)),
      insert(db, WEBHOOK_ATTEMPTS, of(lately, attemptsAt)),
      insert(db, EXCEPTIONS, of(indexes, exceptionAt)),
      insert(db, AUDIT_LOG, of(indexes, auditAt)),
    ]
    const before = writing
    writing = Promise.all(inserts)
    // A failure is thrown where it is awaited, one batch later.
    writing.catch(() => undefined)
    await before
    if (from % tenth === 0) report(`seeded ${from} of ${invoices} invoices`)
  }
  await writing
  await index()
  await createRollups(db).catchUp(facts.now)
  return facts
}

async function insert<T extends mongoose.mongo.Document>(
  db: Database,
  model: CollectionModel<T>,
  rows: readonly T[],
): Promise<void> {
  if (rows.length === 0) return
  const many = rows as unknown as mongoose.mongo.OptionalUnlessRequiredId<T>[]
  await db.collection(model).insertMany(many, { ordered: false, writeConcern: { w: 1 } })
}

/** What an installation has few of, however old it is. */
async function seedFew(db: Database, facts: Facts): Promise<void> {
  const { now } = facts
  const endpoints = createEndpointRepository(db)
  for (const [name, id] of Object.entries(ENDPOINTS)) {
    await endpoints.insert({
      ...{ id, workspaceId: BUSY, url: `https://example.com/${name}`, events: ['*'], mode: 'both', description: null },
      ...{
        status: name === 'held' ? 'disabled' : 'enabled',
        sealedSecrets: ['v1.sealed'],
        formerSecrets: [],
        inFlightMax: null,
        createdAt: 1,
        updatedAt: 1,
      },
      opId: null,
    })
  }
  await createCursorRepository(db).create({
    ...{ id: CHAIN, mode: MODE, network: NETWORK, height: heightAt(facts, facts.invoices - 1), hash: '0x1', time: now },
    ...{ window: [], headHeight: heightAt(facts, facts.invoices - 1), headSeenAt: now, finalizedHeight: 1 },
    ...{ genesisHash: '0x0', lease: null, status: 'live', haltReason: null },
  })
  const wallets = createWalletRepository(db)
  await wallets.upsertMaterial({
    ...{
      id: MATERIAL,
      mode: MODE,
      family: 'evm',
      kind: 'xpub',
      fingerprint: 'growth',
      sealed: '',
      sandbox: false,
      scriptType: null,
    },
    ...{ nextIndex: facts.invoices, derivedCount: facts.invoices, returned: [], createdAt: 1 },
  })
  await wallets.insertWallet({
    ...{ id: 'wallet-growth', workspaceId: BUSY, mode: MODE, family: 'evm', networks: [NETWORK], kind: 'xpub' },
    ...{ materialId: MATERIAL, createdAt: 1, disabledAt: null },
  })
  await createPaymentLinkRepository(db).insert({
    ...{ id: 'link-1', workspaceId: BUSY, mode: MODE, status: 'active', title: 'Coffee', description: null },
    ...{ currency: 'USD', amount: { kind: 'fixed', minor: 2_500n }, productId: null, usesMax: null, expiresAt: null },
    ...{ createdAt: 1, updatedAt: 1, deactivatedAt: null },
  })
}
