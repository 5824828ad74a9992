import { expect } from 'vitest'
import { lastDays } from '#shared/contracts/zone-days.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { uuidLowerBound } from '#shared/db/connection/uuid-time.ts'
import { WEBHOOK_DELIVERIES } from '#shared/db/deliveries/delivery-model.ts'
import { deliveryToDocument } from '#shared/db/deliveries/delivery-repository.ts'
import { createEndpointRepository } from '#shared/db/deliveries/endpoint-repository.ts'
import { EVENTS } from '#shared/db/events/event-model.ts'
import { invoiceToDocument } from '#shared/db/invoices/invoice-mapping.ts'
import { INVOICES, type InvoiceDocument } from '#shared/db/invoices/invoice-model.ts'
import { createOverviewReads } from '#shared/db/reports/overview-reads.ts'
import type { InvoiceStatus, Mode } from '#shared/domain/enumerations.ts'
import { reportedMinor } from '#shared/domain/reports/reporting-value.ts'
import { createOverview, quantile } from '#shared/usecases/reports/read-overview.ts'
import type { Prng } from '#test/simulation/kernel/prng.ts'
import { sampleDelivery, sampleInvoice, samplePaymentMethod } from './db-samples.ts'

export const MERCHANTS = ['figures-a', 'figures-b'] as const
const MODES: readonly Mode[] = ['test', 'live']
const ENDPOINTS = ['figures-e1', 'figures-e2', 'figures-e3']
/** Most of this may pass between the stamp of a write and its arrival without being missed. */
const ARRIVES_AFTER_MS = 100_000
const QUARTER_MS = 900_000
const DAY_MS = 86_400_000
const DAYS = 90
const STATUSES: readonly InvoiceStatus[] = [
  'pending',
  'partial',
  'confirming',
  'expired',
  'cancelled',
  'paid',
  'overpaid',
]

let number = 0

/** Writes invoices and deliveries as every version of the code stamps them, and compares the overview with what is stored. */
export function openFiguresRig(db: Database) {
  const invoices = db.collection(INVOICES)
  const stampOf = (random: Prng, now: number) => now - random.between(0, ARRIVES_AFTER_MS)
  return {
    /** Invoices of random merchants, modes and amounts whose ids were made shortly before `now`. */
    create: async (random: Prng, now: number, count: number): Promise<void> => {
      await invoices.insertMany(Array.from({ length: count }, () => newInvoice(random, stampOf(random, now))))
    },

    /** Random invoices get another status; those that are paid for the first time get the time of it. */
    change: async (random: Prng, now: number, count: number): Promise<void> => {
      const all = await invoices.find().sort({ _id: 1 }).toArray()
      if (all.length === 0) return
      for (const { _id } of Array.from({ length: count }, () => random.pick(all))) {
        const row = await invoices.findOne({ _id })
        if (row !== null) await changeInvoice(db, random, row, stampOf(random, now))
      }
    },

    /** Fails unless volume and funnel of each merchant and mode equal a count of all invoices, by days of the zone. */
    expectFullCount: async (now: number, zone = 'UTC'): Promise<void> => {
      // Swedish dates are written as ISO dates.
      const formatter = new Intl.DateTimeFormat('sv-SE', { timeZone: zone })
      const overview = createOverview({ reads: createOverviewReads(db), clock: { now: () => now } })
      for (const workspaceId of MERCHANTS) {
        for (const mode of MODES) {
          const question = { workspaceId, mode, zone, ...lastDays(now, DAYS, zone) }
          const [volume, funnel] = await Promise.all([overview.volume(question), overview.funnel(question)])
          const own = await invoices.find({ workspaceId, mode }).toArray()
          const dayOf = (at: Date) => formatter.format(at)
          const days = new Set(volume.days)
          const isRequested = (at: Date | null): at is Date => at !== null && days.has(dayOf(at))
          expect(
            tally(
              volume.rows.filter(({ figure }) => figure === 'price'),
              ({ day, currency, symbol }) => `${day} ${currency} ${symbol}`,
              ({ minor }) => minor,
            ),
          ).toEqual(
            tally(
              own.filter(({ paidAt }) => isRequested(paidAt)),
              ({ paidAt, fiat, paymentMethods }) =>
                `${dayOf(paidAt ?? new Date(0))} ${fiat.currency} ${paymentMethods.at(-1)?.symbol ?? null}`,
              ({ fiat }) => BigInt(fiat.minor),
            ),
          )
          expect(
            tally(
              volume.rows
                .filter(({ figure }) => figure === 'price')
                .flatMap(({ day, reported }) =>
                  Object.entries(reported).map(([code, sum]) => ({ key: `${day} ${code} ${sum.count > 0}`, ...sum })),
                ),
              ({ key }) => key,
              ({ minor }) => minor,
            ),
          ).toEqual(
            tally(
              own.filter(({ paidAt, reporting }) => isRequested(paidAt) && reporting !== undefined),
              ({ paidAt, reporting }) => `${dayOf(paidAt ?? new Date(0))} ${reporting?.currency} true`,
              ({ fiat, reporting }) => inReporting(fiat, reporting),
            ),
          )
          expect(
            tally(
              funnel.rows,
              ({ day, status, coinChosen }) => `${day} ${status} ${coinChosen}`,
              ({ count }) => BigInt(count),
            ),
          ).toEqual(
            tally(
              own.filter(({ createdAt }) => isRequested(createdAt)),
              ({ createdAt, status, paymentMethods }) => `${dayOf(createdAt)} ${status} ${paymentMethods.length > 0}`,
              () => 1n,
            ),
          )
          expectMedian(
            funnel.medianMs,
            own.filter(({ paidAt }) => isRequested(paidAt)),
          )
        }
      }
    },

    addEndpoints: async (): Promise<void> => {
      for (const id of ENDPOINTS) {
        await createEndpointRepository(db).insert({
          ...{
            id,
            workspaceId: MERCHANTS[0],
            url: 'https://example.com/',
            events: ['*'],
            mode: 'both',
            description: null,
          },
          ...{
            status: 'enabled',
            sealedSecrets: ['v1.sealed'],
            formerSecrets: [],
            inFlightMax: null,
            createdAt: 1,
            updatedAt: 1,
            opId: null,
          },
        })
      }
    },

    /** Events and their deliveries to some endpoints. */
    announce: async (random: Prng, now: number, count: number): Promise<void> => {
      for (let event = 0; event < count; event += 1) {
        number += 1
        const at = stampOf(random, now)
        const mode = random.pick(MODES)
        const createdAt = new Date(at)
        const owner = { workspaceId: MERCHANTS[0], mode }
        const rows = ENDPOINTS.filter(() => random.chance(0.7)).map((endpointId) =>
          deliveryToDocument(
            sampleDelivery(`whd_f${number}${endpointId}`, { ...owner, endpointId, createdAt: at, dueAt: at }),
          ),
        )
        const body = new Uint8Array()
        await db
          .collection(EVENTS)
          .insertOne({ _id: `evt_f${number}`, ...owner, seq: 1, type: 'invoice.created', body, createdAt })
        if (rows.length > 0) await db.collection(WEBHOOK_DELIVERIES).insertMany(rows)
      }
    },

    /** Attempts of deliveries that wait: each arrives, fails for good, or is tried again. */
    attempt: async (random: Prng, now: number, count: number): Promise<void> => {
      const deliveries = db.collection(WEBHOOK_DELIVERIES)
      const waiting = await deliveries.find({ status: 'pending' }).sort({ _id: 1 }).toArray()
      for (const { _id, attempt } of waiting.filter(() => random.chance(0.5)).slice(0, count)) {
        const at = new Date(stampOf(random, now))
        const status = random.pick(['succeeded', 'failed', 'pending'] as const)
        const finishedAt = status === 'pending' ? null : at
        const change = { $set: { status, finishedAt }, $inc: { attempt: 1 } }
        await deliveries.updateOne({ _id }, attempt === 0 ? { ...change, $min: { attemptsFrom: at } } : change)
      }
    },

    /** Fails unless the figures of each endpoint equal a count of its deliveries of a day. */
    expectDeliveryCount: async (now: number): Promise<void> => {
      const since = Math.floor((now - DAY_MS) / QUARTER_MS) * QUARTER_MS
      let seen = 0
      for (const mode of MODES) {
        const found = await createOverviewReads(db).deliveries(ENDPOINTS, mode, now - DAY_MS)
        for (const { endpointId, firstAttemptsMs: _times, ...figures } of found) {
          const rows = await db
            .collection(WEBHOOK_DELIVERIES)
            .find({ endpointId, mode, createdAt: { $gte: new Date(since) } })
            .toArray()
          seen += rows.length
          const of = (matches: (row: (typeof rows)[number]) => boolean) => rows.filter(matches).length
          expect(figures).toEqual({
            made: rows.length,
            tried: of(({ attempt }) => attempt > 0),
            firstTry: of(({ status, attempt }) => status === 'succeeded' && attempt === 1),
            succeeded: of(({ status }) => status === 'succeeded'),
            failed: of(({ status }) => status === 'failed'),
          })
        }
      }
      expect(seen).toBeGreaterThan(20)
    },
  }
}

/** Converted as a report does, with what is stored. */
function inReporting({ minor, currency }: InvoiceDocument['fiat'], reporting: InvoiceDocument['reporting']): bigint {
  if (reporting === undefined) return 0n
  const terms = { fiat: { minor: BigInt(minor), currency }, reporting: { ...reporting, at: 1 } }
  return reportedMinor(terms, reporting.currency) ?? 0n
}

function newInvoice(random: Prng, at: number): InvoiceDocument {
  number += 1
  const time = uuidLowerBound(at).slice(0, 13)
  const id = `${time}-7000-8000-${number.toString(16).padStart(12, '0')}`
  const paymentMethods = random.chance(0.5) ? [methodAt(random, at)] : []
  const { terms, ...same } = sampleInvoice(
    { uuid: () => id, bytes: (length) => random.bytes(length) },
    { number, at, state: { paymentMethods } },
  )
  return {
    ...invoiceToDocument({ ...same, terms: { ...terms, workspaceId: random.pick(MERCHANTS) } }),
    mode: random.pick(MODES),
    fiat: { minor: `${random.between(1, 1_000_000)}00000000000000`, currency: random.pick(['USD', 'EUR', 'CLP']) },
    // As on invoices in the reporting currency, from before, and without a known rate: many have none.
    ...(random.chance(0.6) && {
      reporting: { currency: random.pick(['USD', 'MXN']), rate: random.pick(['1.0825', '0.000905']), at: new Date(at) },
    }),
  }
}

const methodAt = (random: Prng, at: number) => {
  number += 1
  return samplePaymentMethod(`f${number}`, at, { symbol: random.pick(['USDT', 'BTC', 'ETH']) })
}

async function changeInvoice(db: Database, random: Prng, row: InvoiceDocument, at: number): Promise<void> {
  const status = row.paidAt === null ? random.pick(STATUSES) : random.pick(['paid', 'overpaid'] as const)
  const isPaid = status === 'paid' || status === 'overpaid'
  const updatedAt = new Date(Math.max(at, row.updatedAt.getTime() + 1))
  const [paymentMethod] = invoiceToDocument(
    sampleInvoice(
      { uuid: () => row._id, bytes: (length) => random.bytes(length) },
      { at, state: { paymentMethods: [methodAt(random, at)] } },
    ),
  ).paymentMethods
  const paymentMethods =
    row.paymentMethods.length === 0 && paymentMethod !== undefined ? [paymentMethod] : row.paymentMethods
  const change = { status, updatedAt, paidAt: isPaid ? (row.paidAt ?? updatedAt) : null, paymentMethods }
  await db.collection(INVOICES).updateOne({ _id: row._id }, { $set: change, $inc: { version: 1 } })
}

function expectMedian(medianMs: number | null, paid: readonly InvoiceDocument[]): void {
  const exact = quantile(
    paid.map(({ paidAt, paymentMethods, createdAt }) =>
      Math.max(0, Number(paidAt) - Number(paymentMethods[0]?.from ?? createdAt)),
    ),
    0.5,
  )
  if (exact === null) expect(medianMs).toBeNull()
  else expect(Math.abs((medianMs ?? Number.NaN) - exact)).toBeLessThanOrEqual(exact * 0.008)
}

/** Sums by key, in the order of the keys. */
function tally<T>(
  rows: readonly T[],
  keyOf: (row: T) => string,
  amountOf: (row: T) => bigint,
): readonly (readonly [string, bigint])[] {
  const sums = new Map<string, bigint>()
  for (const row of rows) sums.set(keyOf(row), (sums.get(keyOf(row)) ?? 0n) + amountOf(row))
  return [...sums].sort(([one], [other]) => (one < other ? -1 : 1))
}
