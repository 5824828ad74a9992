import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openApi, type TestApi } from '#test/support/api.ts'
import { deepTest } from '#test/support/depth.ts'
import { useStores } from '#test/support/stores.ts'
import { codeBlocks } from './code-blocks.ts'

const stores = useStores()
const run = promisify(execFile)
const CLIENT = join(import.meta.dirname, '../../clients/python')
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
  const env = { ...process.env, PYTHONPATH: CLIENT, PAYMESH_API: api.baseUrl, PAYMESH_KEY: api.testKey }
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
