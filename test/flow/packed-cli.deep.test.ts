import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { verifyWebhook } from '#clients/typescript/src/main.ts'
import { useWorld } from '#test/support/use-world.ts'
import { startWebhookReceiver, type WebhookReceiver } from '#test/support/webhook-receiver.ts'

const world = useWorld()
const run = promisify(execFile)
const ROOT = join(import.meta.dirname, '../..')
let folder: string
let receiver: WebhookReceiver
let listener: ChildProcess | undefined

// Guarantee: whoever has a URL and a test key has the command line, from one file and without a registry.
beforeAll(async () => {
  receiver = await startWebhookReceiver()
  folder = await mkdtemp(join(tmpdir(), 'paymesh-packed-'))
  await run('npm', ['pack', '--silent', '--ignore-scripts=false', '--pack-destination', folder], {
    cwd: join(ROOT, 'clients/cli'),
  })
  await writeFile(join(folder, 'package.json'), '{ "private": true }')
  const [tarball = ''] = (await readdir(folder)).filter((name) => name.endsWith('.tgz'))
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', `./${tarball}`], { cwd: folder })
}, 120_000)
afterAll(async () => {
  listener?.kill('SIGKILL')
  await receiver.close()
  await rm(folder, { recursive: true, force: true })
})

const program = (): string => join(folder, 'node_modules/.bin/paymesh')
const env = () => ({
  PATH: process.env['PATH'],
  PAYMESH_API_KEY: world().dev.testKey,
  PAYMESH_PUBLIC_ADMIN_URL: world().dev.adminUrl ?? '',
  PAYMESH_API: world().dev.apiUrl,
})
const paymesh = async (args: readonly string[], variables: NodeJS.ProcessEnv = env()) =>
  await run(program(), [...args], { cwd: folder, env: variables }).then(
    ({ stdout, stderr }) => ({ status: 0, stdout, stderr }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({ status: code, stdout, stderr }),
  )

it('listens, triggers and shows an invoice from an empty folder', async () => {
  listener = spawn(program(), ['listen', '--forward-to', receiver.url, '--json'], { cwd: folder, env: env() })
  const lines = createInterface(listener.stdout as NodeJS.ReadableStream)[Symbol.asyncIterator]()
  const ready = JSON.parse(String((await lines.next()).value))
  expect(ready).toMatchObject({ kind: 'ready', mode: 'test', forward_to: receiver.url })
  const triggered = await paymesh(['trigger', 'invoice.paid', '--order-id', 'packed-1', '--json'])
  expect([triggered.status, triggered.stderr]).toEqual([0, ''])
  const { invoice_id: id } = JSON.parse(triggered.stdout)
  const request = await receiver.waitFor(
    ({ body }) => JSON.parse(String(body)).type === 'invoice.paid' && String(body).includes(id),
    60_000,
  )
  const now = () => request.receivedAt
  const event = verifyWebhook(request.body, request.headers['x-webhook-signature'], ready.secret, { now })
  expect(event.data.object).toMatchObject({ id, order_id: 'packed-1', status: 'paid' })
  const shown = await paymesh(['invoice', 'show', id])
  expect(shown).toMatchObject({ status: 0, stdout: expect.stringMatching(/paid {2}\(test\)\n.*order packed-1/) })
  const { invoice, payments } = JSON.parse((await paymesh(['invoice', 'show', id, '--json'])).stdout)
  expect([invoice.id, payments.length]).toEqual([id, 1])
})

it('explains itself, names mistakes, and sends a key to no address that a repository brings along', async () => {
  const help = await paymesh(['--help'])
  for (const word of ['listen', 'trigger', 'invoice', 'PAYMESH_API_KEY', 'PAYMESH_PUBLIC_ADMIN_URL', 'Examples'])
    expect(help.stdout).toContain(word)
  const unknown = await paymesh(['invoice', 'show', '01930000-0000-7000-8000-000000000001'])
  expect(unknown).toMatchObject({ status: 1, stderr: expect.stringContaining('NOT_FOUND') })
  await mkdir(join(folder, '.data'))
  const planted = { adminUrl: 'https://thief.example', apiUrl: 'https://thief.example/api/v1', testKey: 'pm_test_x' }
  await writeFile(join(folder, '.data/dev.json'), JSON.stringify(planted))
  const { PATH, PAYMESH_API_KEY } = env()
  for (const args of [
    ['trigger', 'invoice.paid'],
    ['invoice', 'show', '01930000-0000-7000-8000-000000000001'],
  ]) {
    const refused = await paymesh(args, { PATH, PAYMESH_API_KEY })
    expect(refused).toMatchObject({ status: 1, stderr: expect.stringContaining('must be') })
  }
})
