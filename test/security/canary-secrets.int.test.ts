import { execFile } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { HDNodeWallet } from 'ethers'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { start as startMailer } from '#services/mailer/main.ts'
import { parseConfig } from '#shared/config/schema.ts'
import { createEndpointDeeds } from '#shared/db/deliveries/endpoint-operations.ts'
import { createEndpointRepository } from '#shared/db/endpoints/endpoint-repository.ts'
import { newApiKey } from '#shared/domain/api-key.ts'
import { createWebhookHttp } from '#shared/runtime/http/webhook-http.ts'
import { createLogger } from '#shared/runtime/observability/logger.ts'
import { createMetrics } from '#shared/runtime/observability/metrics.ts'
import { createTracer, type RunningTracer } from '#shared/runtime/observability/tracer.ts'
import { type ArchiveSecret, openArchive, sealArchive } from '#shared/runtime/secrets/archive-cipher.ts'
import { createSecretBox } from '#shared/runtime/secrets/secret-box.ts'
import { createDispatcher } from '#shared/usecases/deliveries/dispatch-deliveries.ts'
import { rotateEndpointSecret } from '#shared/usecases/endpoints/rotate-endpoint-secret.ts'
import { openAdmin, PASSWORD } from '#test/support/admin-http.ts'
import { openApi } from '#test/support/api.ts'
import { dispatcherDeps } from '#test/support/dispatcher-deps.ts'
import { givePending } from '#test/support/pending-deliveries.ts'
import { serviceContext } from '#test/support/service-context.ts'
import { startSmtpSink } from '#test/support/smtp-sink.ts'
import { type TestStores, useStores } from '#test/support/stores.ts'
import { startWebhookReceiver } from '#test/support/webhook-receiver.ts'
import { createSecretFinder } from './secret-finder.ts'

/** How much of the full size runs; `CANARY_SHARE=1` of the deep tier plants more than 10,000 secrets. */
const SHARE = Number(process.env['CANARY_SHARE'] ?? 0.12)
const PLANTED_MIN = 10_000 * SHARE
const MASTER_KEY = Buffer.alloc(32, 7)
const stores = useStores()
const finder = createSecretFinder()
const { plant } = finder
/** Everything that left a process, by the way it left. */
const said = {
  log: [] as string[],
  answers: [] as string[],
  traces: [] as string[],
  errors: [] as string[],
  cli: [] as string[],
}
let tracer: RunningTracer
let watched: TestStores
let stopCollector: () => Promise<void>
const metrics = createMetrics({ defaults: false })

beforeAll(async () => {
  const collector = createServer((request, response) => {
    request.on('data', (part: Buffer) => said.traces.push(part.toString('utf8')))
    request.on('end', () => response.end('{}'))
  })
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve))
  stopCollector = async () => void collector.close()
  const { port } = collector.address() as AddressInfo
  tracer = createTracer({ url: `http://127.0.0.1:${port}`, process: 'test', metrics })
  const destination = { write: (line: string) => void said.log.push(line) }
  const logger = createLogger({ name: 'test', level: 'debug', destination })
  const { db, redis, mongoUrl, redisUrl, database, prefix, ambient } = stores
  watched = { db, redis, mongoUrl, redisUrl, database, prefix, ambient: { ...ambient, logger, metrics, tracer } }
})
afterAll(() => stopCollector())

const letters = (bytes = 24): string => randomBytes(bytes).toString('hex')
const base64 = (): string => {
  for (;;) {
    const text = randomBytes(32).toString('base64')
    if (/[A-Za-z0-9]{20}/.test(text)) return text
  }
}
const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
/** Text of the form of an extended key; its checksum is wrong, nearly always. */
const base58 = (length: number): string => [...randomBytes(length)].map((byte) => BASE58[byte % BASE58.length]).join('')
const hear = (text: string): void => void said.answers.push(text)

/** Takes a secret out of the one answer that shows it on purpose, so that what is left must be free of it. */
function shownOnce(kind: string, secret: unknown, text: string): string {
  if (typeof secret !== 'string') throw new Error(`no ${kind} in ${text}`)
  plant(kind, secret)
  const parts = text.split(secret)
  expect(parts).toHaveLength(2)
  hear(parts.join('<shown>'))
  return secret
}

/** Runs the share of so many things, some at a time, and keeps what they throw. */
async function many(full: number, work: (index: number) => Promise<void>): Promise<void> {
  // Every shape of every list comes up several times.
  const count = Math.max(Math.ceil(full * SHARE), 32)
  let next = 0
  const lane = async (): Promise<void> => {
    while (next < count) {
      next += 1
      await work(next).catch(keepError)
    }
  }
  await Promise.all(Array.from({ length: 16 }, lane))
}

function keepError(error: unknown): void {
  for (let one: unknown = error; one instanceof Error; one = one.cause)
    said.errors.push(`${one.message} ${one.stack} ${JSON.stringify(one)}`)
}

async function useApi(): Promise<void> {
  const api = await openApi(watched)
  const receiver = await startWebhookReceiver()
  const call = async (...args: Parameters<typeof api.call>) => {
    const answer = await api.call(...args)
    return answer
  }
  for (let index = 0; index < 20; index += 1) {
    const { apiKey } = await api.newKey(index % 2 === 0 ? 'test' : 'live')
    plant('API key', apiKey)
    for (const path of ['/invoices', '/currencies', `/invoices/${randomUUID()}`])
      hear((await call('GET', path, { key: apiKey })).text)
    if (index >= 12) continue
    const headers = { 'idempotency-key': randomUUID() }
    const body = { url: receiver.url, events: ['*'] }
    const made = await call('POST', '/webhook-endpoints', { key: api.testKey, body, headers })
    const { secret, id } = made.json.data
    shownOnce('webhook secret', secret, made.text)
    const again = await call('POST', '/webhook-endpoints', { key: api.testKey, body, headers })
    hear(again.text.replace(secret, '<shown again to the same idempotency key>'))
    hear((await call('GET', '/webhook-endpoints', { key: api.testKey })).text)
    const deps = {
      endpoints: createEndpointRepository(stores.db),
      deeds: createEndpointDeeds(stores.db),
      ...watched.ambient,
    }
    const wish = { endpointId: String(id), overlapMs: 60_000, opId: randomUUID(), actor: 'test' }
    const rotated = await rotateEndpointSecret({ ...deps, secretBox: createSecretBox(MASTER_KEY) }, wish)
    plant('webhook secret', rotated.secret)
  }
  const random = watched.ambient.random
  await many(1_500, async (index) => {
    const key = plant('API key', newApiKey('test', random))
    const shapes: readonly (() => Promise<string>)[] = [
      async () => (await call('GET', '/invoices', { key })).text,
      async () => (await call('GET', '/invoices', { key: `${key.slice(0, -1)}!` })).text,
      async () => (await call('GET', '/invoices', { key: null, headers: { authorization: `Basic ${key}` } })).text,
      async () =>
        (await call('GET', '/invoices', { key: null, headers: { authorization: key, 'x-api-key': key } })).text,
      async () => (await call('GET', `/invoices?api_key=${key}`)).text,
      async () => (await call('GET', `/invoices/${key}`)).text,
      async () => (await call('POST', '/invoices', { body: { api_key: key } })).text,
      async () =>
        (await call('POST', '/invoices', { body: `{"apiKey":"${key}"`, headers: { cookie: `key=${key}` } })).text,
    ]
    hear((await shapes[index % shapes.length]?.()) ?? '')
  })
  await many(400, async (index) => {
    const secret = plant('webhook secret', `whsec_${letters()}`)
    const body = {
      url: index % 3 === 0 ? `https://user:${secret}@example.com/` : 'https://example.com/',
      events: ['*'],
      secret,
    }
    hear((await call('POST', '/webhook-endpoints', { body })).text)
    hear((await call('DELETE', `/webhook-endpoints/${secret}`)).text)
  })
  await api.close()
  await receiver.close()
}

async function useAdmin(): Promise<void> {
  const admin = await openAdmin(watched)
  const { workspaceId } = admin
  for (let index = 0; index < 4; index += 1) {
    const email = `person${index}@example.com`
    await admin.addPerson(email)
    plant('password', PASSWORD.padEnd(24, 'x').replaceAll(' ', 'x'))
    const browser = admin.browser()
    await browser.logIn(email)
    const begun = await browser.mutate('auth.beginEnrolment', { password: PASSWORD, code: null })
    const { secret } = begun.data
    plant('authenticator secret', String(secret))
    const done = await browser.mutate('auth.confirmEnrolment', { code: await admin.codeOf(secret) })
    expect(done.data.recoveryCodes.length).toBeGreaterThan(5)
    for (const token of browser.jar.values()) if (token.length > 30) plant('session token', token)
    admin.advance(30_000)
    await browser.mutate('auth.stepUp', { code: await admin.codeOf(secret) })
    for (const token of browser.jar.values()) if (token.length > 30) plant('session token', token)
    const at = { workspaceId, mode: 'live' }
    const created = await browser.mutate('apiKeys.create', {
      ...at,
      opId: randomUUID(),
      name: 'till',
      scopes: ['invoices:read'],
    })
    plant('API key', String(created.data.apiKey))
    hear(JSON.stringify(await browser.query('apiKeys.list', at)))
    await browser.mutate('members.invite', {
      ...at,
      opId: randomUUID(),
      email: `guest${index}@example.com`,
      role: 'viewer',
    })
    for (let nth = 0; nth < 3; nth += 1) {
      const value = plant(
        'extended public key',
        HDNodeWallet.fromSeed(randomBytes(32)).derivePath("m/44'/60'/0'").neuter().extendedKey,
      )
      const wallet = { ...at, family: 'evm', kind: 'xpub', value }
      hear(JSON.stringify(await browser.mutate('wallets.prepare', wallet)))
      hear(JSON.stringify(await browser.mutate('wallets.add', { ...wallet, opId: randomUUID() })))
      hear(JSON.stringify(await browser.query('wallets.list', at)))
    }
    await many(150, async (nth) => {
      const isPrivate = nth % 2 === 0
      const value = isPrivate
        ? plant('extended private key', `xprv9${base58(106)}`)
        : plant('extended public key', `xpub6${base58(106)}`)
      const family = nth % 3 === 0 ? 'solana' : 'evm'
      hear(JSON.stringify(await browser.mutate('wallets.prepare', { ...at, family, kind: 'xpub', value })))
      hear(JSON.stringify(await browser.query('wallets.prepare', { ...at, family, kind: 'xpub', value })))
    })
  }
  await many(1_000, async (index) => {
    const browser = admin.browser()
    browser.jar.set(
      index % 2 === 0 ? '__Host-paymesh' : '__Host-session',
      plant('session token', randomBytes(32).toString('base64url').replaceAll(/[-_]/g, 'A')),
    )
    hear(JSON.stringify(index % 3 === 0 ? await browser.mutate('auth.logOut') : await browser.query('auth.me')))
  })
  await many(800, async (index) => {
    const password = plant('password', letters())
    const browser = admin.browser()
    const shapes = [
      () => browser.logIn(`person${index % 4}@example.com`, password),
      () => browser.mutate('auth.logIn', { email: password, password: { password } }),
      () => browser.query('auth.logIn', { email: 'a@example.com', password }),
      () => browser.mutate('auth.accept', { token: password, password }),
      () => browser.query(password),
      () => browser.mutate(`auth.${password}`, { password }),
      () => browser.query(`auth.me,${password}?batch=1&input=${password}`),
      () => browser.mutate('auth.logIn', {}, { 'content-type': password }),
    ]
    hear(JSON.stringify(await shapes[index % shapes.length]?.()))
  })
  await admin.close()
}

/** Senders under the wrong master key, receivers that answer with what they were sent, and mail servers that refuse a log-in. */
async function useWorkers(): Promise<void> {
  const receiver = await startWebhookReceiver()
  receiver.answer((request) => ({
    kind: 'status',
    status: 500,
    body: `${JSON.stringify(request.headers)} ${request.body}`,
  }))
  const http = createWebhookHttp()
  for (const [index, key] of [MASTER_KEY, randomBytes(32)].entries()) {
    const sealing = createSecretBox(MASTER_KEY)
    const dispatcher = createDispatcher(dispatcherDeps(watched, { secretBox: createSecretBox(key), http }))
    for (let nth = 0; nth < 20; nth += 1) {
      const given = await givePending(stores.db, sealing, 1, {
        url: index === 0 ? receiver.url : 'http://localhost:1/',
      })
      plant('webhook secret', Buffer.from(given.secret).toString('hex'))
      plant('webhook secret', `${given.secret.replaceAll(/[+/=_]/g, '')}`)
      await dispatcher.drain('normal', given.endpoint.id)
    }
    await dispatcher.stop()
  }
  await http.close()
  await receiver.close()
  const sink = await startSmtpSink({ login: true })
  for (let nth = 0; nth < 3; nth += 1) {
    const password = plant('SMTP password', letters())
    const env = {
      PAYMESH_ENV: 'test',
      PAYMESH_MAIL_FROM: 'a@example.com',
      PAYMESH_SMTP_URL: `smtp://user:${password}@127.0.0.1:${sink.port}`,
    }
    const saidBefore = said.log.length
    const stop = await startMailer(serviceContext(watched, env))
    // The mailer before may have put off every mail: they are due again after 30 s.
    await vi.waitFor(
      () => {
        expect(sink.logins()).toBeGreaterThan(nth)
        expect(said.log.slice(saidBefore).some((line) => line.includes('"fault":"server"'))).toBe(true)
      },
      { timeout: 90_000 },
    )
    await stop()
  }
  for (const mail of sink.mails) hear(mail.source)
  await sink.close()
}

/** Settings with every kind of fault, each with a secret in it. */
async function useSettings(): Promise<void> {
  await many(3_200, async (index) => {
    const secret = plant('setting', letters())
    const sound = {
      MONGO_URL: `mongodb://user:${secret}@db/`,
      REDIS_URL: 'redis://r',
      PAYMESH_MASTER_KEY: base64(),
      PAYMESH_KEY_PEPPER: base64(),
    }
    plant('master key', sound.PAYMESH_MASTER_KEY)
    const faults = [
      { MONGO_URL: `mongo://user:${secret}@db/` },
      { REDIS_URL: `http://:${secret}@redis` },
      { PAYMESH_MASTER_KEY: secret },
      { PAYMESH_MASTER_KEYS_OLD: `${sound.PAYMESH_MASTER_KEY},${secret}` },
      { PAYMESH_KEY_PEPPER: sound.PAYMESH_MASTER_KEY },
      { PAYMESH_SMTP_URL: `smpt://user:${secret}@mail` },
      { PAYMESH_NETWORKS: `{"live":{"ethereum":{"rpcUrls":["ftp://${secret}"]}}` },
      { PAYMESH_RATE_SOURCES: `{"kraken":"${secret}"}` },
    ]
    parseConfig({ ...sound, ...faults[index % faults.length] })
  })
}

async function useArchives(): Promise<void> {
  async function* text() {
    yield Buffer.from('content')
  }
  const tries = async (right: ArchiveSecret, wrong: ArchiveSecret): Promise<void> => {
    const parts: Buffer[] = []
    for await (const part of sealArchive(text(), right, {}, new Date())) parts.push(part)
    said.answers.push(Buffer.concat(parts).toString('latin1'))
    await openArchive(
      (async function* () {
        yield* parts
      })(),
      wrong,
    ).next()
  }
  const key = (): ArchiveSecret => ({ kind: 'key', key: Buffer.from(plant('back-up key', base64()), 'base64') })
  await many(300, () => tries(key(), key()))
  const passphrase = (): ArchiveSecret => ({ kind: 'passphrase', passphrase: plant('back-up passphrase', letters()) })
  for (let nth = 0; nth < 2; nth += 1) await tries(passphrase(), passphrase()).catch(keepError)
}

/** The command line on the same stores. */
async function useCli(): Promise<void> {
  const secret = (byte: number) => Buffer.alloc(32, byte).toString('base64')
  const run = async (args: readonly string[], change: Readonly<Record<string, string>> = {}): Promise<string> => {
    const env = {
      ...{
        PATH: process.env['PATH'] ?? '',
        HOME: process.env['HOME'] ?? '',
        MONGO_URL: stores.mongoUrl,
        REDIS_URL: stores.redisUrl,
      },
      ...{ PAYMESH_MONGO_DATABASE: stores.database, PAYMESH_REDIS_PREFIX: stores.prefix, PAYMESH_LOG_LEVEL: 'debug' },
      ...{ PAYMESH_MASTER_KEY: secret(7), PAYMESH_KEY_PEPPER: secret(8) },
      PAYMESH_ACCEPTED_RISKS: 'known-keys,http-urls',
      ...change,
    }
    return await new Promise((resolve) =>
      execFile(process.execPath, ['scripts/paymesh.mjs', ...args], { env, timeout: 60_000 }, (_error, stdout, stderr) =>
        resolve(`${stdout}\n${stderr}`),
      ),
    )
  }
  const workspaceId = String((await stores.db.connection.collection('workspaces').findOne())?.['_id'])
  const made = await run(['key', 'create', '--workspace', workspaceId, '--mode', 'test', '--json'])
  shownOnce('API key', /"key":"(pm_test_\w+)"/.exec(made)?.[1], made)
  const node = HDNodeWallet.fromSeed(randomBytes(32)).derivePath("m/44'/60'/0'")
  const wallet = [
    'wallet',
    'add',
    '--workspace',
    workspaceId,
    '--mode',
    'live',
    '--family',
    'evm',
    '--kind',
    'xpub',
    '--value',
  ]
  said.cli.push(await run([...wallet, plant('extended private key', node.extendedKey), '--json']))
  said.cli.push(await run([...wallet, `${plant('extended public key', node.neuter().extendedKey)}`]))
  said.cli.push(await run(['keys', 'rotate-master', '--json'], { PAYMESH_MASTER_KEY: plant('master key', base64()) }))
}

async function storedText(): Promise<readonly (readonly [string, string])[]> {
  const texts: (readonly [string, string])[] = []
  for (const { name } of await stores.db.connection.listCollections())
    for (const row of await stores.db.connection.collection(name).find().toArray()) {
      const { body, ...rest } = row
      const bytes = body as { buffer?: Uint8Array } | undefined
      texts.push([`collection ${name}`, `${JSON.stringify(rest)} ${Buffer.from(bytes?.buffer ?? []).toString('utf8')}`])
    }
  const { producer, prefix } = stores.redis
  for await (const keys of producer.scanStream({ match: `${prefix}*`, count: 1_000 }))
    for (const key of keys as string[]) {
      const dump = await producer.callBuffer('DUMP', key)
      texts.push(['redis', `${key} ${(dump as Buffer | null)?.toString('latin1') ?? ''}`])
    }
  return texts
}

// Guards secrets: whatever is sent to us or kept by us, right or wrong, comes out nowhere but where it is shown once on purpose.
it('says none of all planted secrets anywhere', { timeout: 540_000 }, async () => {
  await useApi()
  await useAdmin()
  await useWorkers()
  await useSettings()
  await useArchives()
  await useCli()
  await tracer.stop()
  expect(finder.count).toBeGreaterThanOrEqual(PLANTED_MIN)
  expect(said.log.length).toBeGreaterThan(100)
  expect(said.traces.length).toBeGreaterThan(0)
  expect(said.errors.length).toBeGreaterThan(1_000 * SHARE)
  const found = [
    ...Object.entries(said).flatMap(([place, texts]) => texts.flatMap((text) => finder.search(place, text))),
    ...finder.search('metrics', await metrics.render()),
    ...(await storedText()).flatMap(([place, text]) => finder.search(place, text)),
  ]
  expect([...new Set(found)].map((one) => one.slice(0, 160))).toEqual([])
})

it('would notice one in each of these places', async () => {
  const secret = plant('decoy', letters())
  const { logger } = watched.ambient
  const before = said.log.length
  logger.error({ err: new Error(`refused ${secret}`) }, 'failed')
  logger.info({ apiKey: secret }, 'redacted')
  const lines = said.log.slice(before)
  expect(lines.map((line) => finder.search('log', line).length > 0)).toEqual([true, false])
  for (const form of [
    secret,
    Buffer.from(secret).toString('base64'),
    Buffer.from(secret).toString('hex'),
    secret.slice(8, 40),
  ])
    expect(finder.search('answers', `{"message":"no ${form}"}`).length).toBeGreaterThan(0)
  await stores.db.connection
    .collection('mails')
    .insertOne({ _id: 'decoy' as never, status: 'sent', dueAt: new Date(), data: { secret } })
  expect((await storedText()).flatMap(([place, text]) => finder.search(place, text)).length).toBeGreaterThan(0)
})
