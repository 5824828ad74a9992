import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { payLocally } from '#dev/local-chain/pay-locally.ts'
import { ROOT } from '#scripts/bundle.mjs'
import { ASSETS } from '#shared/chains/definitions/assets.ts'
import { checkWebhook, type SignedRequest } from '#test/support/check-webhook.ts'
import { accountKey } from '#test/support/fresh-key.ts'
import type { CommandOutcome } from '../command-line.ts'
import { ASSET } from '../payers.ts'
import { readValues } from './compose-file.ts'
import type { Installation } from './installation.ts'
import { blockOf, type PageCommand } from './readme.ts'
import { check, type Story } from './story.ts'

const SETTLED_MS = 180_000

/** A request of a webhook, and when it arrived. */
interface ReceivedWebhook extends SignedRequest {
  readonly at: number
}

/** The shop that "To a paid invoice" creates. */
export interface Shop {
  readonly workspaceId: string
  readonly testKey: string
  readonly secret: string
  readonly received: readonly ReceivedWebhook[]
  /** Creates an invoice in test mode; null when the request failed. */
  open(): Promise<OpenInvoice>
  status(id: string): Promise<string>
  pay(invoice: OpenInvoice): Promise<void>
}

export interface OpenInvoice {
  readonly id: string
  readonly crypto: { readonly address: string; readonly amount_base_units: string }
}

/** The command for a form: behind "or:" the page states the one for a process per type. */
export function inForm({ form }: Pick<Story, 'form'>, command: PageCommand): PageCommand {
  const other = /^or: (.*)$/.exec(command.comment)?.[1]
  return form === 'one-process' || other === undefined ? command : { line: other, comment: '' }
}

/** What was wrong with a command that was typed. */
export const failed = ({ line }: PageCommand, { status, stdout, stderr }: CommandOutcome): readonly string[] =>
  status === 0 ? [] : [`"${line}" ended with ${status}: ${stderr.trim()}${stdout.trim()}`]

/** `.env` and `settings.env` as their owner fills them in: keys as env.example says, nodes and mail server of the drill. */
export function fillIn({ form, around, mailUrl }: Story, { compose }: Installation): void {
  const file = join(compose.folder, '.env')
  const random = (encoding: 'base64' | 'hex', bytes: number) => randomBytes(bytes).toString(encoding)
  const values: Record<string, string> = {
    COMPOSE_FILE: form === 'one-process' ? 'serve.yaml' : 'compose.yaml',
    PAYMESH_MASTER_KEY: random('base64', 32),
    PAYMESH_KEY_PEPPER: random('base64', 32),
    MONGO_PASSWORD: random('hex', 24),
    ...(form !== 'one-process' && { REDIS_PASSWORD: random('hex', 24) }),
    PAYMESH_NETWORKS: JSON.stringify({ test: around.nodes }),
    PAYMESH_SMTP_URL: mailUrl,
  }
  const filled = Object.entries(values).reduce(
    (text, [name, value]) => {
      // The release before selects its file with an option of Compose.
      if (name === 'COMPOSE_FILE' && !text.includes('COMPOSE_FILE=')) return `${text}\n${name}=${value}\n`
      if (!new RegExp(`^${name}=`, 'm').test(text)) throw new Error(`env.example has no ${name}`)
      return text.replace(new RegExp(`^${name}=.*$`, 'm'), () => `${name}=${value}`)
    },
    readFileSync(file, 'utf8'),
  )
  writeFileSync(file, filled)
  // The receiver and the exchanges of the drill are on this machine.
  const settings = {
    PAYMESH_ACCEPTED_RISKS: 'localhost-webhooks',
    PAYMESH_ALLOW_LOCALHOST_WEBHOOKS: 'true',
    PAYMESH_RATE_SOURCES: JSON.stringify(around.rateSourceUrls),
  }
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`)
  writeFileSync(join(compose.folder, 'settings.env'), lines.join(''))
}

/** "On one machine": the three commands, with the values filled in after the first. */
export async function startByPage(story: Story, installation: Installation): Promise<void> {
  await check(story, 'the commands of "On one machine" start it, and its health checks pass', async () => {
    const commands = blockOf(ROOT, 'mongo-keyfile')
    const terminal = installation.terminal()
    const faults: string[] = []
    for (const command of commands) {
      faults.push(...failed(command, await terminal.type(command)))
      if (command.line.includes('env.example')) fillIn(story, installation)
    }
    await installation.untilReady()
    return { checked: commands.length, faults }
  })
}

/** "To a paid invoice": every command of both blocks; what they print is used as the page says. */
export async function openShop(story: Story, installation: Installation): Promise<Shop> {
  const receiver = await startReceiver()
  story.undo.push(receiver.close)
  const values = readValues(join(installation.compose.folder, '.env'))
  const ids: Record<string, string> = {}
  const terminal = installation.terminal()
  await check(story, 'the commands of "To a paid invoice" create workspace, operator, wallet and key', async () => {
    const faults: string[] = []
    const commands = blockOf(ROOT, 'paymesh workspace create')
    for (const command of commands) {
      const { line } = command
      // No live node is connected, so the page's note on a new wallet applies.
      const ended = await terminal.type(inForm(story, command), {
        ...(line.includes('$WORKSPACE') && { $WORKSPACE: ids['workspace'] ?? '' }),
        ...(line.includes('xpub6…') && { 'xpub6…': `${accountKey(7)} --start-index 0` }),
      })
      // A fresh installation has no back-up; the page says so.
      if (line === 'paymesh doctor') faults.push(...doctorFaults(ended))
      else faults.push(...failed(command, ended))
      const id = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22,}/.exec(ended.stdout)?.[0]
      if (line.includes('workspace create')) ids['workspace'] = id ?? ''
      if (line.includes('operator create')) ids['password'] = passwordIn(ended.stdout)
      if (line.includes('--mode test')) ids['testKey'] = /pm_test_\w+/.exec(ended.stdout)?.[0] ?? ''
    }
    return { checked: commands.length, faults }
  })
  await check(story, 'the first operator logs in at the dashboard’s name', async () => {
    const body = JSON.stringify({ email: 'me@example.com', password: ids['password'] })
    const host = `https://${values['DASHBOARD_HOST']}`
    const { stdout } = await installation.terminal().type({
      line: `curl -s -o /dev/null -w '%{http_code}' ${host}/trpc/auth.logIn -H 'Origin: ${host}' -H 'Content-Type: application/json' -d '${body}'`,
      comment: '',
    })
    return { checked: 1, faults: stdout === '200' ? [] : [`the log-in was answered with ${stdout}`] }
  })
  const shop = shopOf(story, installation, {
    workspaceId: ids['workspace'] ?? '',
    testKey: ids['testKey'] ?? '',
    received: receiver.received,
    secret: () => ids['secret'] ?? '',
  })
  await untilPriced(shop)
  await check(story, 'the requests of the page lead to a paid invoice, announced with valid signatures', async () => {
    const faults: string[] = []
    const commands = blockOf(ROOT, '/simulate')
    for (const command of commands) {
      const { line } = command
      const ended = await terminal.type(command, {
        ...(line.includes('$API_HOST') && { $API_HOST: values['API_HOST'] ?? '' }),
        ...(line.includes('$TEST_KEY') && { $TEST_KEY: shop.testKey }),
        ...(line.includes('$INVOICE') && { $INVOICE: ids['invoice'] ?? '' }),
        ...(line.includes('shop.example.com') && { 'https://shop.example.com/hook': receiver.url }),
        ...(line.startsWith('paymesh ') && {
          'paymesh ': `docker compose exec ${mainOf(story)} node scripts/paymesh.mjs `,
        }),
      })
      faults.push(...failed(command, ended))
      if (line.includes('webhook-endpoints')) ids['secret'] = JSON.parse(ended.stdout).data.secret
      if (line.includes('/invoices ')) ids['invoice'] = JSON.parse(ended.stdout).data.id
      if (line.includes('explain') && !ended.stdout.trim().endsWith('Paid.'))
        faults.push(`explain ends with: ${ended.stdout.trim().split('\n').at(-1)}`)
    }
    await untilAnnounced(shop, ids['invoice'] ?? '')
    return { checked: commands.length, faults: [...faults, ...signatureFaults(shop)] }
  })
  return shop
}

export const mainOf = ({ form }: Pick<Story, 'form'>): 'serve' | 'api' => (form === 'one-process' ? 'serve' : 'api')

/** A payment on the chain, from the invoice to its verified webhook. */
export async function payOnChain(story: Story, shop: Shop, when: string): Promise<void> {
  await check(story, `an invoice is paid on the chain and announced with a valid signature ${when}`, async () => {
    const invoice = await shop.open()
    await shop.pay(invoice)
    await untilAnnounced(shop, invoice.id)
    const status = await shop.status(invoice.id)
    return {
      checked: 1,
      faults: [...(status === 'paid' ? [] : [`the invoice is ${status}`]), ...signatureFaults(shop)],
    }
  })
}

/** Waits for the webhook `invoice.paid` of an invoice. Throws after three minutes. */
export async function untilAnnounced({ received }: Shop, invoiceId: string): Promise<void> {
  const isPaid = ({ body }: SignedRequest): boolean => body.includes('"invoice.paid"') && body.includes(invoiceId)
  for (const until = Date.now() + SETTLED_MS; Date.now() < until; await delay(200)) if (received.some(isPaid)) return
  throw new Error(`no invoice.paid of ${invoiceId} arrived in ${SETTLED_MS / 1_000} s`)
}

const signatureFaults = ({ received, secret }: Shop): readonly string[] =>
  received.flatMap((request) => {
    const verdict = checkWebhook(request, secret, request.at)
    return verdict === 'valid' ? [] : [`a webhook was received with: ${verdict}`]
  })

/** Every fault of `doctor` but a missing back-up. */
export function doctorFaults({ stdout, stderr }: CommandOutcome): readonly string[] {
  const lines = stdout.split('\n').filter((line) => /^[✓✗] /.test(line))
  if (lines.length === 0) return [`doctor printed no check: ${stderr}${stdout}`]
  return lines.filter((line) => line.startsWith('✗') && !/back-?up/i.test(line))
}

/** The second line of what `operator create` prints. */
const passwordIn = (text: string): string => text.split('\n')[1] ?? ''

function shopOf(
  { around }: Story,
  { network }: Installation,
  known: {
    readonly workspaceId: string
    readonly testKey: string
    readonly received: readonly ReceivedWebhook[]
    secret(): string
  },
): Shop {
  const rpcUrl = around.nodes.ethereum?.rpcUrls[0] ?? ''
  const request = async (path: string, body?: object) => {
    const response = await fetch(`${network.plainUrl('api')}/api/v1${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${known.testKey}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(30_000),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${path} answered ${response.status} ${text.slice(0, 200)}`)
    return JSON.parse(text).data
  }
  return {
    ...known,
    get secret() {
      return known.secret()
    },
    open: () => request('/invoices', { amount: '12.00', currency: 'USD', asset: ASSET }),
    status: async (id) => (await request(`/invoices/${id}`)).status,
    pay: async ({ crypto }) => {
      const { contract } = ASSETS[ASSET]
      await payLocally({
        rpcUrl,
        asset: ASSET,
        contract,
        to: crypto.address,
        amountBase: BigInt(crypto.amount_base_units),
      })
    },
  }
}

async function untilPriced(shop: Shop): Promise<void> {
  let last: unknown = null
  for (const until = Date.now() + SETTLED_MS; Date.now() < until; await delay(500)) {
    try {
      return void (await shop.open())
    } catch (error) {
      last = error
    }
  }
  throw new Error('no invoice could be created', { cause: last })
}

async function startReceiver() {
  const received: ReceivedWebhook[] = []
  const server = createServer(async (incoming, outgoing) => {
    const body = await buffer(incoming)
    received.push({ headers: incoming.headers, body, at: Date.now() })
    outgoing.end('ok')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://localhost:${port}/hook`,
    received,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
