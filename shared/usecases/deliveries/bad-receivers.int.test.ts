import { randomBytes } from 'node:crypto'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createWebhookHttp, type WebhookHttpOptions } from '#shared/runtime/http/webhook-http.ts'
import { createSecretBox } from '#shared/runtime/secrets/secret-box.ts'
import { sampleOf } from '#test/support/depth.ts'
import { dispatcherDeps } from '#test/support/dispatcher-deps.ts'
import { givePending } from '#test/support/pending-deliveries.ts'
import { storeTime } from '#test/support/store-time.ts'
import { useStores } from '#test/support/stores.ts'
import { TEST_CERTIFICATE, TEST_CERTIFICATE_KEY } from '#test/support/test-certificate.ts'
import { explainFailure } from './describe.ts'
import { createDispatcher } from './dispatch.ts'

const stores = useStores()
const secretBox = createSecretBox(randomBytes(32))
const DEADLINE_MS = 400
/** The deadline of what is no time-out: a busy machine must not make it one. */
const PATIENT_MS = 20_000
const GIGABYTE = 2 ** 30

let endings: (() => Promise<unknown> | unknown)[] = []
let bytesTaken = 0
beforeEach(() => {
  bytesTaken = 0
})
afterEach(async () => {
  for (const end of endings.reverse()) await end()
  endings = []
})

/** What a receiver writes on the socket once a request has come. */
type Behaviour = (socket: Socket) => void

const says = (text: string): Behaviour => {
  return (socket) => void socket.write(text)
}
const saysAndEnds = (text: string): Behaviour => {
  return (socket) => void socket.end(text)
}
const drips: Behaviour = (socket) => {
  socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
  const timer = setInterval(() => socket.write('1\r\nx\r\n'), 20)
  socket.on('close', () => clearInterval(timer))
}
/** Headers for ever: the head itself never ends. */
const dripsHead: Behaviour = (socket) => {
  socket.write('HTTP/1.1 200 OK\r\n')
  const timer = setInterval(() => socket.write('x-more: 1\r\n'), 20)
  socket.on('close', () => clearInterval(timer))
}
const pours = (head: string, text = 'x'): Behaviour => {
  const block = Buffer.from(text.repeat(65_536 / text.length))
  return (socket) => {
    socket.write(head)
    const more = (): void => {
      while (!socket.destroyed && socket.write(block));
    }
    socket.on('drain', more)
    more()
  }
}

async function listen(server: Server): Promise<number> {
  const open = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    open.add(socket)
    // A sender that cuts us off is part of the game.
    socket.on('error', () => undefined)
    socket.on('close', () => {
      bytesTaken += socket.bytesWritten
      open.delete(socket)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  endings.push(() => {
    for (const socket of open) socket.destroy()
    return new Promise((resolve) => server.close(resolve))
  })
  return (server.address() as AddressInfo).port
}

const receiver = (behave: Behaviour): Promise<number> =>
  listen(createServer((socket) => void socket.once('data', () => behave(socket))))

/** Sends one delivery and returns what was recorded of it. A case that must time out has a short deadline. */
async function deliverTo(url: string, options: WebhookHttpOptions = {}, timeoutMs = PATIENT_MS) {
  const http = createWebhookHttp(options)
  const impatient = {
    // The retry, which is due at once, would be claimed as well where this process is slow.
    post: (request: Parameters<typeof http.post>[0]) =>
      http.post({ ...request, timeoutMs }).finally(() => void dispatcher.stop()),
  }
  const deps = dispatcherDeps(stores, { secretBox, http: impatient })
  const { endpoint, deliveryIds } = await givePending(stores.db, secretBox, 1, { url })
  const dispatcher = createDispatcher(deps)
  await dispatcher.drain('normal', endpoint.id)
  await dispatcher.idle()
  await dispatcher.stop()
  await http.close()
  const [id = ''] = deliveryIds
  const [attempt] = await deps.deliveries.listAttempts(id)
  return { row: await deps.deliveries.findById(id), attempt }
}

const OK = 'HTTP/1.1 200 OK\r\n'
const RECEIVERS: readonly (readonly [name: string, behave: Behaviour, error: string])[] = [
  ['never answers', () => undefined, 'timeout'],
  ['drips its answer', drips, 'timeout'],
  ['drips its head', dripsHead, 'timeout'],
  [
    'redirects to another host',
    saysAndEnds('HTTP/1.1 302 Found\r\nLocation: https://example.com/\r\nContent-Length: 0\r\n\r\n'),
    'status_302',
  ],
  [
    'redirects inside',
    saysAndEnds('HTTP/1.1 307 Temporary Redirect\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n'),
    'status_307',
  ],
  ['resets the connection', (socket) => void socket.resetAndDestroy(), 'reset'],
  ['closes without an answer', (socket) => void socket.end(), 'reset'],
  ['sends gigabytes under a failure', pours(`HTTP/1.1 500 Oops\r\nContent-Length: ${GIGABYTE}\r\n\r\n`), 'status_500'],
  ['promises more than it sends', saysAndEnds(`${OK}Content-Length: 100\r\n\r\nshort`), 'reset'],
  ['promises more and waits', says(`${OK}Content-Length: 100\r\n\r\nshort`), 'timeout'],
  ['gives a length that is none', saysAndEnds(`${OK}Content-Length: lots\r\n\r\nx`), 'bad_answer'],
  ['gives two lengths', saysAndEnds(`${OK}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello`), 'bad_answer'],
  [
    'gives a length and chunks',
    saysAndEnds(`${OK}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`),
    'bad_answer',
  ],
  ['breaks a chunk', saysAndEnds(`${OK}Transfer-Encoding: chunked\r\n\r\nzz\r\n`), 'bad_answer'],
  ['speaks no HTTP', saysAndEnds('220 mail.example.com ESMTP\r\n'), 'bad_answer'],
  ['sends a head without end', says(`${OK}${'x-long: '.padEnd(20_000, 'x')}`), 'too_large'],
  ['sends interim answers without end', pours('', 'HTTP/1.1 103 Early Hints\r\n\r\n'), 'too_large'],
  ['sends an extension of a chunk without end', pours(`${OK}Transfer-Encoding: chunked\r\n\r\n1;`), 'too_large'],
  ['sends the size of a chunk without end', pours(`${OK}Transfer-Encoding: chunked\r\n\r\n`, '0'), 'too_large'],
  ['sends trailers without end', pours(`${OK}Transfer-Encoding: chunked\r\n\r\n0\r\n`, 'x: y\r\n'), 'too_large'],
  ['sends empty lines without end', pours('', '\r\n'), 'too_large'],
  ...['-1', '0', '99999999999999999999', '1e9', 'Thu, 01 Jan 1970 00:00:00 GMT', 'Fri, 31 Dec 9999 23:59:59 GMT'].map(
    (value) =>
      [
        `wishes a retry after ${value}`,
        saysAndEnds(`HTTP/1.1 429 Too Many Requests\r\nRetry-After: ${value}\r\nContent-Length: 0\r\n\r\n`),
        'status_429',
      ] as const,
  ),
  ['only ever says continue', says('HTTP/1.1 100 Continue\r\n\r\n'), 'reset'],
  [
    'switches protocols',
    says('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'),
    'reset',
  ],
]

// Guarantee: whatever a receiver does, the attempt is recorded with a reason that an operator understands, and the schedule goes on.
test.each(RECEIVERS)('a receiver that %s is a failed attempt', async (_name, behave, error) => {
  const port = await receiver(behave)
  const startedAt = await storeTime(stores)
  const timeoutMs = error === 'timeout' ? DEADLINE_MS : PATIENT_MS
  const { row, attempt } = await deliverTo(`http://localhost:${port}/hook`, {}, timeoutMs)
  expect(row).toMatchObject({ status: 'pending', attempt: 1, claims: 1, lastError: error, leaseToken: null })
  // The first retry is due at once: after the outcome, and not at the end of the lease.
  expect(row?.dueAt).toBeGreaterThanOrEqual(startedAt)
  expect(row?.dueAt).toBeLessThanOrEqual((await storeTime(stores)) + 1_000)
  expect(attempt).toMatchObject({ number: 1, error })
  expect(attempt?.durationMs).toBeLessThan(PATIENT_MS)
  expect(attempt?.responseBody.length).toBeLessThanOrEqual(4_096)
  expect(explainFailure(error).length).toBeGreaterThan(20)
})

test.each(
  sampleOf(
    [
      ['an untrusted certificate', {}, 'hooks.example.com'],
      ['a certificate for another name', { ca: TEST_CERTIFICATE }, 'other.example.com'],
    ],
    3,
  ),
)('%s is a failed attempt', async (_name, trust, host) => {
  const server = createTlsServer({ cert: TEST_CERTIFICATE, key: TEST_CERTIFICATE_KEY }, (_request, response) =>
    response.end(),
  )
  const port = await listen(server)
  const loopback = { resolve: async () => ['127.0.0.1'], isAllowed: (address: string) => address === '127.0.0.1' }
  const { row } = await deliverTo(`https://${host}:${port}/`, { ...loopback, ...trust })
  expect(row).toMatchObject({ status: 'pending', attempt: 1, lastError: 'tls' })
})

// Guarantee: a name that turns inside after it was accepted costs an attempt and reaches nobody.
test('a private address on the second look-up is a failed attempt without a connection', async () => {
  const connections: Socket[] = []
  const port = await listen(createServer((socket) => void connections.push(socket)))
  const answers = [['93.184.215.14'], ['127.0.0.1'], ['::1'], ['93.184.215.14', '10.0.0.1']]
  // The first look-up is that of the check at creation.
  const resolve = async () => answers.shift() ?? ['169.254.169.254']
  await resolve()
  for (let attempt = 1; attempt <= 4; attempt += 1) {
    const { row } = await deliverTo(`https://rebind.example.com:${port}/`, { resolve })
    expect(row).toMatchObject({ status: 'pending', attempt: 1, lastError: 'blocked_address' })
  }
  expect(connections).toEqual([])
})

// Guarantee: no receiver can fill the memory of the sender.
test('twenty answers of a gigabyte leave memory flat', async () => {
  const port = await receiver(pours(`${OK}Content-Length: ${GIGABYTE}\r\n\r\n`))
  await deliverTo(`http://localhost:${port}/hook`)
  const before = process.memoryUsage()
  for (let round = 0; round < 20; round += 1) {
    const { row, attempt } = await deliverTo(`http://localhost:${port}/hook`)
    expect(row).toMatchObject({ status: 'succeeded' })
    expect(attempt?.responseBody).toBe('x'.repeat(4_096))
  }
  const after = process.memoryUsage()
  expect(after.rss - before.rss).toBeLessThan(100_000_000)
  expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(20_000_000)
  expect(bytesTaken).toBeLessThan(0.1 * GIGABYTE)
})

const ACCEPTED: readonly (readonly [name: string, behave: Behaviour, body: string])[] = [
  ['speaks HTTP/1.0 and closes', saysAndEnds('HTTP/1.0 200 OK\r\n\r\nhello'), 'hello'],
  [
    'sends interim answers first',
    saysAndEnds(`${'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(3)}${OK}Content-Length: 2\r\n\r\nok`),
    'ok',
  ],
  ['compresses a bomb', saysAndEnds(`${OK}Content-Encoding: gzip\r\nContent-Length: 3\r\n\r\n\x1f\x08!`), '\x1f\x08!'],
  ['answers twice', says(`${OK}Content-Length: 2\r\n\r\nok${OK}Content-Length: 4\r\n\r\nevil`), 'ok'],
]

// Guarantee: an answer of 2xx is one, whatever else comes with it; none is taken for the answer to a later request.
test.each(ACCEPTED)('a receiver that %s is answered for', async (_name, behave, body) => {
  const port = await receiver(behave)
  for (let delivery = 1; delivery <= 2; delivery += 1) {
    const { row, attempt } = await deliverTo(`http://localhost:${port}/hook`)
    expect(row).toMatchObject({ status: 'succeeded', attempt: 1 })
    expect(attempt?.responseBody).toBe(body)
  }
})
