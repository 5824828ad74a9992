import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { verifyWebhook } from '#clients/typescript/src/main.ts'
import { freePort } from '#dev/embedded/free-port.ts'
import { eventBody } from '#shared/contracts/webhooks/event.ts'
import { EVENT_TYPES } from '#shared/domain/enumerations.ts'
import { deepTest } from '#test/support/depth.ts'
import { runCommand } from '#test/support/run-command.ts'
import { useWorld } from '#test/support/use-world.ts'
import { type ReceivedRequest, startWebhookReceiver, type WebhookReceiver } from '#test/support/webhook-receiver.ts'

const world = useWorld()
const run = promisify(execFile)
let apiKey: string
let receiver: WebhookReceiver
let listener: Listener

interface Line extends Record<string, unknown> {
  readonly kind: string
}
interface Listener {
  readonly child: ChildProcess
  readonly text: () => string
  readonly lines: readonly Line[]
  waitFor(matches: (line: Line) => boolean): Promise<Line>
}

const PAYMESH = ['scripts/paymesh.mjs']
const data = () => ['--data', inject('stackDataDir')]
const env = () => ({ ...process.env, PAYMESH_API_KEY: apiKey })

/** `paymesh listen --json`, with what it has printed. */
function startListener(forwardTo: string, ...flags: readonly string[]): Listener {
  const args = [...PAYMESH, 'listen', '--forward-to', forwardTo, ...flags, '--json', ...data()]
  const child = spawn(process.execPath, args, { env: env(), stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  const lines: Line[] = []
  const waiters = new Set<() => void>()
  child.stderr.on('data', (chunk: Buffer) => {
    text += String(chunk)
  })
  createInterface(child.stdout).on('line', (line) => {
    text += `${line}\n`
    lines.push(JSON.parse(line))
    for (const check of waiters) check()
  })
  return {
    child,
    text: () => text,
    lines,
    waitFor: (matches) =>
      new Promise((resolve, reject) => {
        const ended = (code: number | null) => reject(new Error(`listen ended with ${code}: ${text}`))
        const check = () => {
          const found = lines.find(matches)
          if (found === undefined) return
          waiters.delete(check)
          child.off('exit', ended)
          resolve(found)
        }
        waiters.add(check)
        child.once('exit', ended)
        check()
      }),
  }
}

async function paymesh(...args: readonly string[]): Promise<{ status: number; stdout: string; stderr: string }> {
  try {
    return { status: 0, ...(await run(process.execPath, [...PAYMESH, ...args, ...data()], { env: env() })) }
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
    return { status: code, stdout, stderr }
  }
}

const trigger = async (event: string): Promise<string | null> => {
  const done = await runCommand(['trigger', event, '--json', ...data()], { PAYMESH_API_KEY: apiKey })
  expect([event, done.status, done.stderr.trim()]).toEqual([event, 0, ''])
  return JSON.parse(done.stdout).invoice_id
}
const bodyOf = (request: ReceivedRequest) => eventBody.parse(JSON.parse(request.body.toString('utf8')))
const isOf = (type: string, invoiceId: string | null) => (request: ReceivedRequest) => {
  const event = bodyOf(request)
  return event.type === type && (invoiceId === null || event.data.object.id === invoiceId)
}

beforeAll(async () => {
  const made = await world().cli<{ readonly apiKey: string }>(
    ...[
      'api-key',
      'create',
      '--workspace',
      world().workspaceId,
      '--mode',
      'test',
      '--scopes',
      'webhooks:manage,invoices:write',
    ],
  )
  apiKey = made.apiKey
  receiver = await startWebhookReceiver()
  listener = startListener(receiver.url)
  await listener.waitFor(({ kind }) => kind === 'ready')
})
afterAll(async () => {
  listener.child.kill('SIGKILL')
  await receiver.close()
})

// Guarantee: each of the twelve events can be made to happen and arrives, signed, at a receiver without a public address.
test.each(EVENT_TYPES)('trigger %s arrives at the receiver of listen', async (type) => {
  const { secret } = await listener.waitFor(({ kind }) => kind === 'ready')
  const invoiceId = await trigger(type)
  const request = await receiver.waitFor(isOf(type, invoiceId), 60_000)
  const event = verifyWebhook(request.body, request.headers['x-webhook-signature'], String(secret), {
    now: () => request.receivedAt,
  })
  expect(event).toMatchObject({ type, livemode: false })
  expect(event.data.payment !== undefined).toBe(type.startsWith('payment.'))
  if (type === 'invoice.late_payment') {
    const paid = bodyOf(await receiver.waitFor(isOf('payment.confirmed', invoiceId), 60_000))
    expect(paid.data.payment).toMatchObject({ late: true, simulated: true })
  }
  if (type === 'invoice.confirming') {
    const { received, crypto } = bodyOf(request).data.object
    // The first half is confirmed, the second one is not yet.
    expect(BigInt(received.confirmed_base_units)).toBe((BigInt(crypto?.amount_base_units ?? 0) + 1n) / 2n)
    expect(received.amount_base_units).toBe(crypto?.amount_base_units)
  }
  record(type, request)
})

/** `RECORD_EVENTS=1` keeps what arrived as the documented sample of the event, at an address of documentation. */
function record(type: string, request: ReceivedRequest): void {
  if (process.env['RECORD_EVENTS'] !== '1') return
  const text = JSON.stringify(JSON.parse(request.body.toString('utf8')), null, 2)
  const shown = text.replaceAll(world().dev.checkoutUrl, 'https://pay.example.com')
  writeFileSync(join('docs/events', `${type}.json`), `${shown}\n`)
}

// Guarantee: a receiver that dies loses nothing: events wait for it in the order of the stream.
test('events wait for a receiver that is down', async () => {
  const port = await freePort(0)
  const down = startListener(`http://127.0.0.1:${port}/hook`)
  await down.waitFor(({ kind }) => kind === 'ready')
  const first = await trigger('invoice.created')
  const second = await trigger('invoice.created')
  expect(await down.waitFor(({ kind }) => kind === 'waiting')).toMatchObject({ reason: 'ECONNREFUSED' })
  const seen: string[] = []
  const late = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      seen.push(JSON.parse(Buffer.concat(chunks).toString('utf8')).data.object.id)
      response.end()
    })
  })
  await new Promise<void>((resolve) => late.listen(port, '127.0.0.1', resolve))
  // Two invoices may be announced in either order: the listener whose receiver was there all the time shows which.
  for (const invoiceId of [first, second]) await receiver.waitFor(isOf('invoice.created', invoiceId), 60_000)
  // The invoices of earlier tests may still announce something.
  const ours = (ids: readonly string[]) => ids.filter((id) => id === first || id === second)
  const inOrder = ours(receiver.requests.map((request) => bodyOf(request).data.object.id))
  await expect.poll(() => ours(seen)).toEqual(inOrder)
  const exited = new Promise((resolve) => down.child.once('exit', resolve))
  down.child.kill('SIGINT')
  expect(await exited).toBe(0)
  late.closeAllConnections()
  await new Promise((resolve) => late.close(resolve))
})

// Guarantee: the retries and the duplicates of real deliveries can be rehearsed: one delivery has one id, and its event one body.
test('sends an event again that was not accepted, and an accepted one twice', async () => {
  const seen: string[] = []
  const moody = createServer((request, response) => {
    seen.push(`${request.headers['x-webhook-id']}`)
    response.writeHead(seen.length === 1 ? 500 : 204).end()
  })
  const port = await freePort(0)
  await new Promise<void>((resolve) => moody.listen(port, '127.0.0.1', resolve))
  const flags = ['--events', 'invoice.cancelled', '--retry', '2', '--duplicate']
  const rehearsal = startListener(`http://127.0.0.1:${port}/hook`, ...flags)
  await rehearsal.waitFor(({ kind }) => kind === 'ready')
  await trigger('invoice.cancelled')
  const statuses = () => rehearsal.lines.filter(({ kind }) => kind === 'forwarded').map(({ status }) => status)
  await expect.poll(statuses).toEqual([500, 204, 204])
  expect(new Set(seen).size).toBe(1)
  rehearsal.child.kill('SIGKILL')
  moody.closeAllConnections()
  await new Promise((resolve) => moody.close(resolve))
})

// Guarantee: Ctrl-C ends `listen` at once while a receiver is stopped in a debugger in the middle of a request.
test('ends at once while a receiver does not respond, and goes on after one that dies in the middle', async () => {
  let requests = 0
  let arrived: () => void = () => undefined
  const hanging = new Promise<void>((resolve) => {
    arrived = resolve
  })
  const dying = createServer((request) => {
    requests += 1
    if (requests === 1) request.socket.destroy()
    else arrived()
  })
  const port = await freePort(0)
  await new Promise<void>((resolve) => dying.listen(port, '127.0.0.1', resolve))
  const clumsy = startListener(`http://127.0.0.1:${port}/hook`)
  await clumsy.waitFor(({ kind }) => kind === 'ready')
  await trigger('invoice.created')
  const failed = await clumsy.waitFor(({ kind }) => kind === 'failed')
  expect(failed['reason']).not.toContain('fetch failed')
  await trigger('invoice.created')
  await hanging
  const before = clumsy.lines.length
  const exited = new Promise((resolve) => clumsy.child.once('exit', resolve))
  clumsy.child.kill('SIGINT')
  expect(await exited).toBe(0)
  // The request was given up: nothing is said of an outcome, as there would be after the ten seconds of a real delivery.
  expect(clumsy.lines.slice(before)).toEqual([])
  dying.closeAllConnections()
  await new Promise((resolve) => dying.close(resolve))
})

deepTest('an event is sent again by its id, and one that is not there is refused', async () => {
  const invoiceId = await trigger('invoice.created')
  const { id } = bodyOf(await receiver.waitFor(isOf('invoice.created', invoiceId), 60_000))
  const before = receiver.requests.length
  const again = await paymesh('listen', '--forward-to', receiver.url, '--resend', id)
  expect([again.status, again.stderr]).toEqual([0, ''])
  expect(receiver.requests.slice(before).some((request) => bodyOf(request).id === id)).toBe(true)
  const unknown = await paymesh('listen', '--forward-to', receiver.url, '--resend', 'evt_0_1')
  expect(unknown).toMatchObject({ status: 1, stderr: expect.stringContaining('NOT_FOUND') })
})

test('mistakes are named in one line, and no output shows the key', async () => {
  const typo = await paymesh('listen', '--forward-to', receiver.url, '--events', 'invoice.payed')
  expect(typo.stderr).toContain('invoice.payed')
  const named = await paymesh('listen', '--forward-to', receiver.url.replace('://', '://me:secret@'))
  expect(named).toMatchObject({ status: 1, stderr: expect.stringContaining('without a name and a password') })
  const known = apiKey
  apiKey = `${known.slice(0, -1)}${known.endsWith('0') ? '1' : '0'}`
  const refused = await paymesh('listen', '--forward-to', receiver.url)
  apiKey = known
  expect(refused).toMatchObject({ status: 1, stderr: expect.stringContaining('UNAUTHENTICATED') })
  expect([listener.text(), refused.stderr, refused.stdout].join('')).not.toContain(known.slice(12))
})
