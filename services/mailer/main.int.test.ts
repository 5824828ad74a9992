import { get } from 'node:http'
import { afterEach, expect, test, vi } from 'vitest'
import type { Stop } from '#services/context.ts'
import { MAILS, type MailRecord } from '#shared/db/mails/mail-model.ts'
import { createMailQueue } from '#shared/db/mails/mail-queue.ts'
import { createMailRepository } from '#shared/db/mails/mail-repository.ts'
import { QUEUES } from '#shared/ports/runtime.ts'
import { createQueueNotifier } from '#shared/queues/queue-notifier.ts'
import { deepTest } from '#test/support/depth.ts'
import { serviceContext } from '#test/support/service-context.ts'
import { startSmtpSink } from '#test/support/smtp-sink.ts'
import { useStores } from '#test/support/stores.ts'
import { startMailbox } from './mailbox.ts'
import { start } from './main.ts'

const stores = useStores()
const endings: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end()
})
const soon = { timeout: 15_000, interval: 20 }

async function queued(change: Partial<MailRecord> = {}): Promise<string> {
  const id = `endpoint-failing:${stores.runtime.random.uuid()}:whd_1`
  const data = { endpointId: 'ep-1', url: 'https://shop.test/hook', firstDeliveryId: 'whd_1' }
  const createdAt = stores.runtime.clock.now() - 1
  const base = {
    id,
    workspaceId: 'ws',
    template: 'endpoint_failing',
    to: 'owner@example.com',
    data,
    createdAt,
  } as const
  await createMailRepository(stores.db).insertMany([{ ...base, ...change }])
  return id
}

async function startMailer(env: Readonly<Record<string, string>>): Promise<Stop> {
  const stop = await start(serviceContext(stores, env))
  endings.push(stop)
  return stop
}

async function sink() {
  const server = await startSmtpSink()
  endings.push(() => server.close())
  return { server, env: { PAYMESH_SMTP_URL: server.url, PAYMESH_MAIL_FROM: 'Paymesh <pay@example.com>' } }
}

const stored = (id: string) => createMailQueue(stores.db).findById(id)

test('a woken mail and a forgotten one both arrive', async () => {
  const { server, env } = await sink()
  const forgotten = await queued()
  await startMailer(env)
  const notified = await queued()
  const notifier = createQueueNotifier(stores.redis, stores.runtime)
  notifier.notify(QUEUES.mail, notified)
  await notifier.close()
  await vi.waitFor(() => expect(server.mails).toHaveLength(2), soon)
  await vi.waitFor(async () => {
    for (const id of [forgotten, notified]) expect(await stored(id)).toMatchObject({ status: 'sent' })
  }, soon)
})

deepTest('a server that was away gets the mail when it is back', async () => {
  const { server, env } = await sink()
  server.behave({ kind: 'refuse', stage: 'connect', code: 421 })
  await startMailer(env)
  const id = await queued()
  const tried = { attempt: 0, claims: 1, leaseToken: null }
  await vi.waitFor(async () => expect(await stored(id)).toMatchObject(tried), soon)
  expect(await stored(id)).toMatchObject({ status: 'pending', lastReply: expect.any(String) })
  server.behave({ kind: 'accept' })
  await stores.db.collection(MAILS).updateOne({ _id: id }, { $set: { dueAt: new Date(0) } })
  await vi.waitFor(() => expect(server.mails).toHaveLength(1), soon)
})

// Guarantee: without a mail server mails wait untouched; none is lost and none is called sent.
test('in production without a mail server mails wait', async () => {
  const id = await queued()
  const gauge = vi.spyOn(stores.runtime.metrics, 'gauge')
  await startMailer({ PAYMESH_ENV: 'production' })
  await vi.waitFor(() => expect(gauge).toHaveBeenCalledWith('mail_oldest_due_age_seconds', expect.any(Number)), soon)
  expect(gauge).toHaveBeenCalledWith('mail_server_configured', 0)
  expect(await stored(id)).toMatchObject({ status: 'pending', claims: 0 })
  gauge.mockRestore()
})

test('in development the mailbox shows what was sent', async () => {
  const id = await queued()
  await startMailer({ PAYMESH_ENV: 'development', PAYMESH_MAILBOX_PORT: '0' })
  await vi.waitFor(async () => expect(await stored(id)).toMatchObject({ status: 'sent' }), soon)
})

interface Page {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: string
}

function request(port: number, path: string, host = `127.0.0.1:${port}`, method = 'GET'): Promise<Page> {
  return new Promise((resolve, reject) => {
    get({ port, path, method, headers: { host } }, (response) => {
      let body = ''
      response.setEncoding('utf8').on('data', (chunk: string) => (body += chunk))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }))
    }).on('error', reject)
  })
}

async function mailbox(): Promise<number> {
  const from = { name: 'Paymesh', address: 'paymesh@localhost.localdomain' }
  const box = await startMailbox({ mails: createMailQueue(stores.db), from, port: 0 })
  endings.push(() => box.stop())
  return box.port
}

test('the mailbox lists mails and shows each with both bodies', async () => {
  const port = await mailbox()
  const id = await queued({ to: 'somebody@example.com' })
  const list = await request(port, '/')
  expect(list.body).toContain('somebody@example.com')
  expect(list.body).toContain('http-equiv="refresh"')
  const path = `/mails/${encodeURIComponent(id)}`
  expect(list.body).toContain(`href="${path}"`)
  const shown = await request(port, path)
  expect(shown.body).toContain('A webhook endpoint is failing')
  expect(shown.body).toContain(`src="${path}/html"`)
  expect((await request(port, `${path}/html`)).body).toContain('https://shop.test/hook')
})

// Guarantee: the page runs no script, loads nothing and cannot be read by a web page elsewhere.
test('the mailbox escapes, forbids everything and answers to names of this machine only', async () => {
  const port = await mailbox()
  const hostile = '"><img src=x onerror=alert(1)>'
  const id = await queued({ to: hostile, data: { endpointId: hostile, url: hostile, firstDeliveryId: hostile } })
  const path = `/mails/${encodeURIComponent(id)}`
  for (const each of ['/', path, `${path}/html`, '/mails/unknown', '/mails/%E0%A4%A']) {
    const { body, headers } = await request(port, each)
    expect(body).not.toContain('<img')
    expect(headers['content-security-policy']).toMatch(/^default-src 'none';/)
    expect(headers['x-content-type-options']).toBe('nosniff')
  }
  expect((await request(port, `${path}/html`)).headers['content-security-policy']).toContain('sandbox')
  expect((await request(port, '/mails/unknown')).status).toBe(404)
  expect((await request(port, '/', 'rebound.example.com')).status).toBe(421)
  expect((await request(port, '/', undefined, 'POST')).status).toBe(405)
})

test('a mail that cannot be made is shown with its data', async () => {
  const port = await mailbox()
  const id = await queued({ data: { only: 'this <b>' } })
  expect((await request(port, `/mails/${encodeURIComponent(id)}`)).body).toContain('this &lt;b&gt;')
})
