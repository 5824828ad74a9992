import { createServer, type IncomingMessage } from 'node:http'
import { type JobsOptions, Queue, Worker } from 'bullmq'
import { Redis } from 'ioredis'
import mongoose from 'mongoose'
import { Pool } from 'undici'
import { createRandom } from '#shared/runtime/secrets/random.ts'
import { signDelivery } from '#shared/usecases/deliveries/send.ts'
import { textOf } from './text-of.ts'

/*
 * The floor of `deliveries --floor`: what the steps of decision 64 cost on this machine when nothing but the steps is done. As `api` it inserts
 * an invoice for each request and adds a wake-up; as `relay` it reads entries and endpoints, inserts events and claimed rows, sends
 * signed requests, and writes outcomes and trims together. The stores, documents, indexes and concerns are those of the product. There is no authentication,
 * validation, limiter, idempotency, mode, filter, lane, cap, memory of failures, inbox, mail, audit row, log, metric or sweep, and a crash loses events.
 */
const { BARE_ROLE = '', BARE_PORT = '0', BARE_PATH = '{}', BENCH_TEMPLATE = '{}' } = process.env
const { EJSON, Binary } = mongoose.mongo.BSON

/** A receiver. */
interface BareEndpoint {
  readonly _id: string
  readonly workspaceId: string
  readonly url: string
  /** Stored sealed; the path opens nothing. */
  readonly secret: string
}

/** What both processes are told. */
export interface BarePath {
  readonly mongoUrl: string
  readonly redisUrl: string
  /** A database with the product's indexes. */
  readonly database: string
  /** One for each receiver; used in turn. Stored in that database as well. */
  readonly endpoints: readonly BareEndpoint[]
}

type Document = { _id: string } & Record<string, unknown>

/** As long as the product's: outcomes and trims wait this long for company. */
const WAIT_MS = 40
const LEASE_MS = 20_000
/** An invoice is readable this long after its time at the latest. */
const COMMIT_MS = 1_000
/** A read at majority may show an entry for so long after its trim. */
const SHOWN_AFTER_TRIM_MS = 2_000
const BATCH = 64
const EVENT_BYTES = 2_048

const { mongoUrl, redisUrl, database, endpoints } = JSON.parse(BARE_PATH) as BarePath
const client = await new mongoose.mongo.MongoClient(mongoUrl, {
  maxPoolSize: 64,
  readConcern: { level: 'majority' },
  writeConcern: { w: 'majority', journal: true },
}).connect()
const db = client.db(database)
const invoices = db.collection<Document>('invoices')
const random = createRandom(Date.now)
const connection = { connection: new Redis(redisUrl, { maxRetriesPerRequest: null }), prefix: database }
process.on('SIGTERM', () => process.exit(0))

if (BARE_ROLE === 'api') serve()
else await relay()

function serve(): void {
  const { document, answer } = EJSON.parse(BENCH_TEMPLATE) as { document: Document; answer: object }
  const queue = new Queue('outbox', connection)
  let number = 0
  const create = async (request: IncomingMessage): Promise<string> => {
    const { metadata } = JSON.parse(await textOf(request)) as { metadata: unknown }
    const id = random.uuid()
    number += 1
    const { workspaceId } = endpoints[number % endpoints.length] ?? {}
    const createdAt = new Date()
    const { idem: _key, outboxShard: _shard, ...same } = document
    const outboxShard = number % 8
    await invoices.insertOne({
      ...{ ...same, _id: id, workspaceId, number, metadata, createdAt },
      ...{ outboxShard, outboxAt: createdAt },
    })
    const opts: JobsOptions = { deduplication: { id: String(outboxShard), keepLastIfActive: true } }
    // Nobody waits for it, as in the product: what is measured begins with the answer, and the answer with the commit.
    void queue.add('wake-up', { id: outboxShard }, { ...opts, removeOnComplete: true, removeOnFail: true })
    return JSON.stringify({ ...answer, id, number })
  }
  createServer((request, response) => {
    void create(request).then((body) => {
      response.writeHead(201, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) })
      response.end(body)
    })
  }).listen(Number(BARE_PORT), '127.0.0.1')
}

async function relay(): Promise<void> {
  const [events, rows, hooks] = ['events', 'webhook_deliveries', 'webhook_endpoints'].map((name) =>
    db.collection<Document>(name),
  )
  if (events === undefined || rows === undefined || hooks === undefined) throw new Error('there are three collections')
  const secretOf = new Map(endpoints.map(({ _id, secret }) => [_id, secret]))
  const pools = new Map(endpoints.map(({ url }) => [url, new Pool(new URL(url).origin, { connections: 8 })]))
  const seen = new Set<string>()
  const [finish, trim] = [
    together<{ id: string; leaseToken: string }>(async (ended) => {
      const tokens = [...new Set(ended.map(({ leaseToken }) => leaseToken))]
      await rows.bulkWrite(
        tokens.map((leaseToken) => ({
          updateMany: {
            filter: { _id: { $in: ended.map(({ id }) => id) }, status: 'pending', leaseToken },
            update: { $set: { status: 'delivered', leaseToken: null, attempt: 1, finishedAt: new Date() } },
          },
        })),
        { ordered: false },
      )
    }),
    together<string>(async (ids) => {
      const update = { $set: { outbox: [] }, $unset: { outboxAt: true } } as const
      await invoices.updateMany({ _id: { $in: [...ids] } }, update, { writeConcern: { w: 1 } })
      setTimeout(() => ids.forEach((id) => void seen.delete(id)), SHOWN_AFTER_TRIM_MS)
    }),
  ]
  const send = async (row: { id: string; eventId: string; leaseToken: string }, to: Document, body: Buffer) => {
    const [url, secret] = [String(to['url']), secretOf.get(to._id) ?? '']
    const headers = signDelivery({
      ...{ deliveryId: row.id, eventId: row.eventId, eventType: 'invoice.created', body },
      ...{ timestampS: Math.floor(Date.now() / 1_000), secrets: [secret] },
    })
    const path = new URL(url).pathname
    const response = await pools.get(url)?.request({ path, method: 'POST', headers, body })
    await response?.body.dump()
    finish({ id: row.id, leaseToken: row.leaseToken })
  }
  /** Reads begin here, because the index keeps removed entries for a while. */
  let from = 0
  /** True when there may be more. */
  const round = async (): Promise<boolean> => {
    const waiting = { outboxShard: { $in: [0, 1, 2, 3, 4, 5, 6, 7] }, outboxAt: { $gte: new Date(from) } }
    const limit = BATCH + seen.size
    const stages = [{ $match: waiting }, { $sort: { outboxAt: 1 } }, { $limit: limit }, { $set: { storeNow: '$$NOW' } }]
    const found = await invoices.aggregate<Document>(stages, { hint: 'invoice_outbox' }).toArray()
    const [oldest] = found
    if (oldest !== undefined) from = Number(oldest['outboxAt']) - COMMIT_MS
    const fresh = found.filter(({ _id }) => !seen.has(_id))
    if (fresh.length === 0) return false
    const leaseToken = random.uuid()
    const type = 'invoice.created'
    const made = fresh.map(({ _id: invoiceId, workspaceId, mode, storeNow }) => {
      seen.add(invoiceId)
      const eventId = `evt_${invoiceId.replaceAll('-', '')}_1`
      const head = `{"id":"${eventId}","object":"event","type":"${type}","data":{"object":{"note":"`
      const body = Buffer.from(`${head.padEnd(EVENT_BYTES - 4, 'x')}"}}}`)
      return { invoiceId, workspaceId, mode, body, eventId, dueAt: new Date(Number(storeNow) + LEASE_MS) }
    })
    const [known] = await Promise.all([
      hooks.find({ workspaceId: { $in: [...new Set(made.map(({ workspaceId }) => workspaceId))] } }).toArray(),
      events.insertMany(
        made.map(({ eventId: _id, body, dueAt, ...same }) => ({
          ...{ _id, ...same, seq: 1, type, body: new Binary(body), createdAt: dueAt },
        })),
        { ordered: false },
      ),
    ])
    const endpointOf = new Map(known.map((endpoint) => [endpoint['workspaceId'], endpoint]))
    const claimed = made.map(({ invoiceId: _invoice, body, ...same }) => {
      const endpoint = endpointOf.get(same.workspaceId)
      if (endpoint === undefined) throw new Error('every workspace has an endpoint')
      return { id: `whd_${same.eventId.slice(4)}`, body, endpoint, same }
    })
    const fixed = { eventType: type, status: 'pending', attempt: 0, generation: 0, claims: 1, leaseToken }
    const unknown = { finishedAt: null, lastError: null, lastStatusCode: null }
    await rows.insertMany(
      claimed.map(({ id, endpoint, same }) => ({
        ...{ _id: id, endpointId: endpoint._id, ...same, ...fixed, ...unknown, createdAt: same.dueAt },
      })),
      { ordered: false },
    )
    for (const { invoiceId } of made) trim(invoiceId)
    for (const { id, body, endpoint, same } of claimed)
      void send({ id, eventId: same.eventId, leaseToken }, endpoint, body)
    return found.length === limit
  }
  let isRequested = false
  let isRunning = false
  const run = async (): Promise<void> => {
    isRunning = true
    while (isRequested) {
      isRequested = false
      while (await round());
    }
    isRunning = false
  }
  // A wake-up ends when its round has been requested, as the product's does.
  const wake = async (): Promise<void> => {
    isRequested = true
    if (!isRunning) void run()
  }
  new Worker('outbox', wake, { ...connection, concurrency: 1 })
  createServer((_request, response) => response.end()).listen(Number(BARE_PORT), '127.0.0.1')
}

/** Hands over what came within the wait, one batch after the other. */
function together<T>(write: (all: readonly T[]) => Promise<void>): (one: T) => void {
  let all: T[] = []
  return (one) => {
    all.push(one)
    if (all.length > 1) return
    setTimeout(() => {
      const batch = all
      all = []
      void write(batch)
    }, WAIT_MS)
  }
}
