import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { HDNodeWallet } from 'ethers'
import { expect, vi } from 'vitest'
import { start as startMailer } from '#services/mailer/main.ts'
import { parseConfig } from '#shared/config/schema.ts'
import { createWebhookHttp } from '#shared/runtime/http/webhook-http.ts'
import { type ArchiveSecret, openArchive, sealArchive } from '#shared/runtime/secrets/archive-cipher.ts'
import { createSecretBox } from '#shared/runtime/secrets/secret-box.ts'
import { createDispatcher } from '#shared/usecases/deliveries/dispatch.ts'
import { dispatcherDeps } from '#test/support/dispatcher-deps.ts'
import { givePending } from '#test/support/pending-deliveries.ts'
import { serviceContext } from '#test/support/service-context.ts'
import { startSmtpSink } from '#test/support/smtp-sink.ts'
import { startWebhookReceiver } from '#test/support/webhook-receiver.ts'
import { base64, type CanaryRig, letters, MASTER_KEY } from './canary-rig.ts'

/** Senders under the wrong master key, receivers that answer with what they were sent, and mail servers that refuse a log-in. */
export async function useWorkers({ stores, watched, plant, said, hear }: CanaryRig): Promise<void> {
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
    // The mailer before put off what it could not send.
    await stores.db.connection.collection('mails').updateMany({ status: 'pending' }, { $set: { dueAt: new Date(0) } })
    const stop = await startMailer(serviceContext(watched, env))
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
export async function useSettings({ plant, many }: CanaryRig): Promise<void> {
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

/** Back-ups that are opened with the wrong secret. */
export async function useArchives({ plant, said, many, keepError }: CanaryRig): Promise<void> {
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
export async function useCli({ stores, plant, said, shownOnce }: CanaryRig): Promise<void> {
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
  const made = await run(['api-key', 'create', '--workspace', workspaceId, '--mode', 'test', '--json'])
  shownOnce('API key', /"apiKey":"(pm_test_\w+)"/.exec(made)?.[1], made)
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
  said.cli.push(await run(['master-key', 'rotate', '--json'], { PAYMESH_MASTER_KEY: plant('master key', base64()) }))
}
