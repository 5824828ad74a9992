import { randomBytes, randomUUID } from 'node:crypto'
import { HDNodeWallet } from 'ethers'
import { expect } from 'vitest'
import { createEndpointOperations, createEndpointRepository } from '#shared/db/deliveries/endpoint-repository.ts'
import { newApiKey } from '#shared/domain/api-key.ts'
import { createSecretBox } from '#shared/runtime/secrets/secret-box.ts'
import { rotateEndpointSecret } from '#shared/usecases/endpoints/rotate-endpoint-secret.ts'
import { openAdmin, PASSWORD } from '#test/support/admin-http.ts'
import { openApi } from '#test/support/api.ts'
import { startWebhookReceiver } from '#test/support/webhook-receiver.ts'
import { base58, type CanaryRig, letters, MASTER_KEY } from './canary-rig.ts'

/** REST calls with keys and secrets, right and wrong, in every place where one can stand. */
export async function useApi({ stores, watched, plant, hear, shownOnce, many }: CanaryRig): Promise<void> {
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
      operations: createEndpointOperations(stores.db),
      ...watched.runtime,
    }
    const request = { endpointId: String(id), overlapMs: 60_000, opId: randomUUID(), actor: 'test' }
    const rotated = await rotateEndpointSecret({ ...deps, secretBox: createSecretBox(MASTER_KEY) }, request)
    plant('webhook secret', rotated.secret)
  }
  const random = watched.runtime.random
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

/** People, their sessions, keys and wallets, and guesses at all of them. */
export async function useAdmin({ watched, plant, hear, many }: CanaryRig): Promise<void> {
  const admin = await openAdmin(watched)
  // Every secret has to reach the code behind the budgets.
  Object.assign(admin.deps, { budgets: { enter: () => () => undefined } })
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
