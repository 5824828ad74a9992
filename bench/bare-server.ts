import { createServer, type IncomingMessage } from 'node:http'
import mongoose from 'mongoose'
import { createRandom } from '#shared/runtime/secrets/random.ts'
import { textOf } from './text-of.ts'

/*
 * The baseline of `create-invoice`: node:http, one insert of the native driver of the same document with the same indexes
 * under the same concerns, one JSON response of the same size. No checks of any kind.
 */
interface Template {
  readonly document: Record<string, unknown> & { readonly idem: object; readonly claims?: readonly string[] }
  readonly answer: Record<string, unknown>
}

const { MONGO_URL = '', BENCH_DATABASE = '', BENCH_TEMPLATE = '', BENCH_PORT = '0' } = process.env
const { EJSON } = mongoose.mongo.BSON
const template = EJSON.parse(BENCH_TEMPLATE) as Template
const random = createRandom(Date.now)
let number = 0
let stopping = false

const client = await new mongoose.mongo.MongoClient(MONGO_URL, {
  maxPoolSize: 64,
  retryWrites: true,
  readConcern: { level: 'majority' },
  writeConcern: { w: 'majority', journal: true },
}).connect()
const invoices = client.db(BENCH_DATABASE).collection<{ _id: string } & Record<string, unknown>>('invoices')

const server = createServer((request, response) => {
  create(request).then(
    (body) => {
      response.writeHead(201, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) })
      response.end(body)
    },
    (error: unknown) => {
      if (stopping) return
      process.stderr.write(`${String(error)}\n`)
      response.writeHead(500).end()
    },
  )
})
server.listen(Number(BENCH_PORT), '127.0.0.1', () => process.stdout.write('ready\n'))
process.on('SIGTERM', () => {
  stopping = true
  server.closeAllConnections()
  server.close(() => void client.close().then(() => process.exit(0)))
})

async function create(request: IncomingMessage): Promise<string> {
  const body = JSON.parse(await textOf(request)) as { order_id: string }
  const id = random.uuid()
  const now = new Date()
  const key = request.headers['idempotency-key']
  const { idem, claims, ...document } = template.document
  number += 1
  await invoices.insertOne({
    ...document,
    _id: id,
    number,
    orderId: body.order_id,
    createdAt: now,
    ...(key !== undefined && { idem: { ...idem, key } }),
    // As long as a real claim, and as unique.
    ...(claims !== undefined && { claims: claims.map((claim) => claim.slice(0, -id.length) + id) }),
  })
  return JSON.stringify({ ...template.answer, id, number, created_at: now.toISOString() })
}
