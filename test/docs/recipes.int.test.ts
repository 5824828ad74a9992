import { execFile } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { freePort } from '#dev/embedded/free-port.ts'
import { startGuarded } from '#dev/embedded/guarded-child.ts'
import { openApi, type TestApi } from '#test/support/api.ts'
import { deepTest } from '#test/support/depth.ts'
import { useStores } from '#test/support/stores.ts'
import { codeBlocks } from './code-blocks.ts'

const stores = useStores()
const run = promisify(execFile)
const CLIENTS = join(import.meta.dirname, '../../clients')
const LIMIT_MS = 600_000
let api: TestApi
let folder: string
/** The moment at which the clock of the API stands still. */
let stillAt: number | null = null

beforeAll(async () => {
  api = await openApi(stores, {
    deps: ({ clock }) => ({ clock: { ...clock, now: () => stillAt ?? clock.now() } }),
  })
  folder = await mkdtemp(join(tmpdir(), 'paymesh-recipes-'))
  const guide = await readFile(join(import.meta.dirname, '../../docs/guide/merchant.md'), 'utf8')
  for (const { attributes, code } of codeBlocks(guide))
    if (attributes['recipe'] !== undefined) await writeFile(join(folder, attributes['recipe']), code)
})
afterAll(async () => {
  await rm(folder, { recursive: true, force: true })
  await api.close()
})

const SHOP = `
import os
from paymesh import Paymesh, WebhookHandler
client = Paymesh(os.environ["PAYMESH_KEY"], os.environ["PAYMESH_API"])
def settle(invoice): print(invoice["id"], invoice["status"])
handler = WebhookHandler(client, "whsec_example", paid=settle, partly=settle, ended=settle)
`

/** Runs a program beside the recipes; returns its lines. */
async function runPython(program: string, python = 'python3'): Promise<readonly string[]> {
  await writeFile(join(folder, 'shop.py'), SHOP)
  await writeFile(join(folder, 'main.py'), program)
  const env = {
    ...process.env,
    PYTHONPATH: join(CLIENTS, 'python'),
    PAYMESH_API: api.baseUrl,
    PAYMESH_KEY: api.testKey,
  }
  const { stdout } = await run(python, ['main.py'], { cwd: folder, env })
  return stdout.trim().split('\n')
}

// Guarantee: the nightly comparison reads every invoice that ended, also those of one millisecond that lie on two pages.
it('the nightly comparison meets each invoice once', async () => {
  stillAt = Date.now()
  const ids: string[] = []
  for (const scenario of ['paid', 'paid', 'paid', 'paid', 'paid', 'overpaid', 'expired']) {
    const invoice = { amount: '10.00', currency: 'USD', asset: 'eth_ethereum' }
    const { json } = await api.call('POST', '/invoices', { body: invoice })
    const { id } = json.data as { id: string }
    const simulated = await api.call('POST', `/test/invoices/${id}/simulate`, { body: { scenario } })
    expect(simulated.status).toBe(200)
    ids.push(`${id} ${scenario}`)
  }
  stillAt = null
  const lines = await runPython(
    'from nightly import reconcile\nfrom shop import *\nreconcile(client, settle, limit=2)\n',
  )
  expect([...lines].sort()).toEqual([...ids].sort())
})

// Guarantee: Django's protection of forms and its slashes do not keep a genuine delivery away.
deepTest(
  'a site of Django takes a delivery',
  async () => {
    await run('python3', ['-m', 'venv', 'venv'], { cwd: folder })
    await run('venv/bin/pip', ['install', '--quiet', 'django==5.2.19'], { cwd: folder, timeout: LIMIT_MS })
    const program = `
import hashlib, hmac, time
import django
from django.conf import settings
middleware = ["django.middleware.common.CommonMiddleware", "django.middleware.csrf.CsrfViewMiddleware"]
settings.configure(ROOT_URLCONF="urls", ALLOWED_HOSTS=["*"], MIDDLEWARE=middleware, SECRET_KEY="x", APPEND_SLASH=True)
django.setup()
from django.test import Client
body = b'{"id":"evt_1","object":"event","type":"webhook.test","data":{"object":{"object":"invoice","id":"x"}}}'
def send(path, secret):
    t = str(int(time.time()))
    v1 = hmac.new(secret, t.encode() + b"." + body, hashlib.sha256).hexdigest()
    headers = {"X-Webhook-Signature": f"t={t},v1={v1}"}
    client = Client(enforce_csrf_checks=True, raise_request_exception=False)
    return client.post(path, body, content_type="application/json", headers=headers).status_code
print(send("/paymesh", b"whsec_example"), send("/paymesh", b"whsec_other"), send("/paymesh/", b"whsec_example"))
`
    expect(await runPython(program, join(folder, 'venv/bin/python'))).toEqual(['204 400 404'])
  },
  LIMIT_MS,
)

const NEXT_PACKAGES = [
  ...['next@16.4.6', 'react@19.2.0', 'react-dom@19.2.0'],
  ...['typescript@7.0.2', '@types/node@26.6.7', '@types/react@19.3.3'],
]
const NEXT_SHOP = `
import { createPaymesh, createWebhookHandler, type Invoice } from '@paymesh/client'
const { PAYMESH_KEY: apiKey = '', PAYMESH_API: baseUrl = '', PAYMESH_SECRET: secret = '' } = process.env
async function settle({ id, status }: Invoice): Promise<void> {
  if (status === 'expired') throw new Error('the database is down')
  console.log(id, status)
}
const client = createPaymesh({ apiKey, baseUrl })
export const webhooks = createWebhookHandler({ client, secret, paid: settle, partly: settle, ended: settle })
`

// Guarantee: a site of Next builds without its secrets, takes a genuine delivery, refuses another, and has a failed one sent again.
deepTest(
  'a site of Next takes a delivery',
  async () => {
    const site = join(folder, 'next')
    const at = { cwd: site, timeout: LIMIT_MS, env: { ...process.env, NEXT_TELEMETRY_DISABLED: '1' } }
    await mkdir(join(site, 'app/paymesh'), { recursive: true })
    await writeFile(join(site, 'package.json'), '{ "private": true, "type": "module" }')
    await writeFile(join(site, 'shop.ts'), NEXT_SHOP)
    await writeFile(join(site, 'app/paymesh/route.ts'), await readFile(join(folder, 'route.ts')))
    const pack = ['pack', '--silent', '--ignore-scripts=false', '--pack-destination', site]
    const packed = (await run('npm', pack, { cwd: join(CLIENTS, 'typescript') })).stdout.trim().split('\n').at(-1) ?? ''
    await run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', ...NEXT_PACKAGES, packed], at)
    const next = [process.execPath, join(site, 'node_modules/next/dist/bin/next')] as const
    await run(next[0], [next[1], 'build'], at)

    const port = await freePort(0)
    const secret = 'whsec_example'
    const settings = { PAYMESH_API: api.baseUrl, PAYMESH_KEY: api.testKey, PAYMESH_SECRET: secret }
    const server = await startGuarded(next[0], [next[1], 'start', '-H', '127.0.0.1', '-p', String(port)], {
      ...{ cwd: site, env: { ...at.env, ...settings }, stdio: ['ignore', 'pipe', 'pipe'] },
    })
    let log = ''
    await new Promise<void>((ready) => {
      for (const stream of [server.stdout, server.stderr])
        stream?.on('data', (text) => {
          log += text
          if (log.includes('Ready')) ready()
        })
    })
    const deliver = async (scenario: string, by = secret): Promise<readonly [string, number]> => {
      const made = await api.call('POST', '/invoices', {
        body: { amount: '10.00', currency: 'USD', asset: 'eth_ethereum' },
      })
      const { id } = made.json.data as { id: string }
      const { json } = await api.call('POST', `/test/invoices/${id}/simulate`, { body: { scenario } })
      const body = JSON.stringify({
        id: 'evt_1',
        object: 'event',
        type: 'invoice.created',
        data: { object: json.data },
      })
      const t = Math.floor(Date.now() / 1_000)
      const v1 = createHmac('sha256', by).update(`${t}.${body}`).digest('hex')
      const headers = { 'x-webhook-signature': `t=${t},v1=${v1}` }
      return [id, (await fetch(`http://127.0.0.1:${port}/paymesh`, { method: 'POST', body, headers })).status]
    }
    const [paid, forged, failed] = [
      await deliver('paid'),
      await deliver('paid', 'whsec_other'),
      await deliver('expired'),
    ]
    await server.stop(5_000)
    expect([paid[1], forged[1], failed[1]]).toEqual([204, 400, 500])
    expect(log).toContain(`${paid[0]} paid`)
    expect(log).not.toContain(`${forged[0]} paid`)
    expect(log).toContain('the database is down')
  },
  LIMIT_MS,
)
