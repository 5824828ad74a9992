// Counts the functions and files that three walks through the product pass. It runs without a loader: Node strips types in
// place, so that V8's offsets are those of the TypeScript files.
import { randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { startStack } from '#scripts/start/stack.ts'
import { startWebhookReceiver, type WebhookReceiver } from '#test/support/webhook-receiver.ts'

const USAGE = `usage: npm run bench:walks -- [options]

Runs everything in this process, as npm start does, and counts with V8's precise coverage the functions of the project that
three walks call and an installation without requests does not:

  create   POST /invoices in USDC until invoice.created and invoice.pending arrive
  pay      the USDC transfer until payment.detected, invoice.confirming, payment.confirmed and invoice.paid arrive
  resend   an operator's resend of invoice.paid until it arrives again

  --rounds <n>   rounds of all walks, after one that is not counted; a function counts if every round calls it (3)
  --idle <s>     seconds without requests, whose functions are subtracted (60)
  --tail <s>     seconds that belong to a walk after its last webhook (2)
  --list <dir>   writes the functions of each walk to <dir>/<walk>.tsv
  --help         this text
`
const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    idle: { type: 'string', default: '60' },
    tail: { type: 'string', default: '2' },
    list: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})
const ROOT = fileURLToPath(new URL('..', import.meta.url))
/** Code of the project. This file is in none of them and calls no function of theirs after the start. */
const FOLDERS = ['services/', 'shared/', 'scripts/', 'dev/']
/** Addresses are derived ahead and rates are published. */
const SETTLE_S = 20
/** Account 0 of anvil's public phrase: the development node unlocks it. */
const PAYER = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
/** USDC on Ethereum; the development node has a test token there that lets everybody mint. */
const USDC = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'
const print = (line: string) => void process.stdout.write(`${line}\n`)

interface CalledFunction {
  readonly file: string
  readonly offset: number
  /** Empty for a function without a name. */
  readonly name: string
  readonly calls: number
}
/** Functions by file and position. */
type Coverage = ReadonlyMap<string, CalledFunction>

/** The calls since the last time. */
async function takeCoverage(session: Session): Promise<Coverage> {
  const { result } = await session.post('Profiler.takePreciseCoverage')
  const called = new Map<string, CalledFunction>()
  for (const { url, functions } of result) {
    const path = url.startsWith('file://') ? fileURLToPath(url) : ''
    const file = path.slice(ROOT.length)
    if (!path.startsWith(ROOT) || !FOLDERS.some((folder) => file.startsWith(folder))) continue
    for (const { functionName: name, ranges } of functions) {
      const { startOffset: offset = 0, endOffset = 0, count: calls = 0 } = ranges[0] ?? {}
      // Left out: the module itself, and what V8 makes for a class (`<instance_members_initializer>`).
      if (calls === 0 || name.startsWith('<') || (name === '' && offset === 0)) continue
      called.set(`${file}:${offset}:${endOffset}`, { file, offset, name, calls })
    }
  }
  return called
}

async function post(url: string, body: unknown, headers: Readonly<Record<string, string>> = {}) {
  const sent = { 'content-type': 'application/json', ...headers }
  const response = await fetch(url, { method: 'POST', headers: sent, body: JSON.stringify(body) })
  const text = await response.text()
  if (!response.ok) throw new Error(`${url} responded with ${response.status}: ${text}`)
  return { cookies: response.headers.getSetCookie(), body: JSON.parse(text) }
}

/** Calls a function of the test token with an address and an amount (Solidity ABI). */
async function callToken(rpcUrl: string, selector: string, to: string, amountBase: bigint): Promise<void> {
  const data = `0x${selector}${to.slice(2).toLowerCase().padStart(64, '0')}${amountBase.toString(16).padStart(64, '0')}`
  const params = [{ from: PAYER, to: USDC, gas: '0x30d40', data }]
  const { body } = await post(rpcUrl, { jsonrpc: '2.0', id: 1, method: 'eth_sendTransaction', params })
  if (body.error !== undefined) throw new Error(`the node refused the transaction: ${body.error.message}`)
}

type Stack = Awaited<ReturnType<typeof startStack>>

/** The walks in order; each goes on with the invoice of the one before. */
async function openWalks({ dev }: Stack, receiver: WebhookReceiver) {
  // Every webhook opens a connection: whether one is still open from the walk before must not change what is counted.
  receiver.answer({ kind: 'status', status: 200, headers: { connection: 'close' } })
  const merchant = { authorization: `Bearer ${dev.testKey}` }
  await post(`${dev.apiUrl}/webhook-endpoints`, { url: receiver.url, events: ['*'] }, merchant)
  const owner = { email: dev.ownerEmail, password: dev.ownerPassword }
  const { cookies } = await post(`${dev.adminUrl}/trpc/auth.logIn`, owner)
  const operator = { cookie: cookies.map((cookie) => cookie.split(';')[0]).join('; ') }
  const rpcUrl = dev.rpcUrls['ethereum'] ?? ''
  await callToken(rpcUrl, '40c10f19', PAYER, 1_000_000_000_000n)
  let invoice: { readonly id: string; readonly crypto: { address: string; amount_base_units: string } }
  let deliveryId = ''
  const arrival = (wanted: string) =>
    receiver.waitFor(({ body, headers }) => {
      const { type, data } = JSON.parse(body.toString('utf8'))
      // A resend is another delivery of the same event.
      return type === wanted && data.object.id === invoice.id && headers['x-webhook-id'] !== deliveryId
    })
  return {
    create: async () => {
      const order = { amount: '25.00', currency: 'USD', asset: 'usdc_ethereum' }
      invoice = (await post(`${dev.apiUrl}/invoices`, order, merchant)).body.data
      await Promise.all(['invoice.created', 'invoice.pending'].map(arrival))
    },
    pay: async () => {
      await callToken(rpcUrl, 'a9059cbb', invoice.crypto.address, BigInt(invoice.crypto.amount_base_units))
      await Promise.all(['payment.detected', 'invoice.confirming', 'payment.confirmed'].map(arrival))
      deliveryId = String((await arrival('invoice.paid')).headers['x-webhook-id'])
    },
    resend: async () => {
      const input = { workspaceId: dev.workspaceId, mode: 'test', opId: randomUUID(), deliveryId }
      await post(`${dev.adminUrl}/trpc/deliveries.resend`, input, operator)
      await arrival('invoice.paid')
    },
  }
}

async function measure(stack: Stack, receiver: WebhookReceiver): Promise<void> {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  const callsDuring = async (run: () => Promise<void>, seconds: string) => {
    await takeCoverage(session)
    await run()
    await pause(Number(seconds) * 1_000)
    return await takeCoverage(session)
  }
  const walks = await openWalks(stack, receiver)
  await pause(SETTLE_S * 1_000)
  for (const run of Object.values(walks)) await callsDuring(run, values.tail)
  // It begins at once: what a walk causes later, such as roll-ups, is not a part of it and must not count by chance.
  const idle = await callsDuring(async () => {}, values.idle)
  const rounds = Object.keys(walks).map((): Coverage[] => [])
  for (let round = 0; round < Number(values.rounds); round += 1) {
    for (const [walk, run] of Object.values(walks).entries()) rounds[walk]?.push(await callsDuring(run, values.tail))
  }
  print('| walk | functions | with a name | files | with those that also run idle |\n|---|---:|---:|---:|---:|')
  for (const [index, walk] of Object.keys(walks).entries()) {
    const [first = new Map(), ...others] = rounds[index] ?? []
    printWalk(
      walk,
      [...first].filter(([key]) => others.every((other) => other.has(key))),
      idle,
    )
  }
}

function printWalk(walk: string, all: readonly [string, CalledFunction][], idle: Coverage): void {
  const own = all.filter(([key]) => !idle.has(key))
  const files = (rows: typeof all) => new Set(rows.map(([, { file }]) => file)).size
  const named = own.filter(([, { name }]) => name !== '')
  print(`| ${walk} | ${own.length} | ${named.length} | ${files(own)} | ${all.length} in ${files(all)} files |`)
  if (values.list === undefined) return
  const rows = all.map(([key, { file, offset, name, calls }]) => {
    const line = readFileSync(join(ROOT, file), 'utf8').slice(0, offset).split('\n').length
    return [file, line, name, calls, idle.has(key) ? 'yes' : 'no'].join('\t')
  })
  const path = join(values.list, `${walk}.tsv`)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, `${['file\tline\tfunction\tcalls\talso idle', ...rows.sort()].join('\n')}\n`)
}

async function main(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'paymesh-walks-'))
  const receiver = await startWebhookReceiver()
  process.on('exit', () => rmSync(dataDir, { recursive: true, force: true }))
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
  const stack = await startStack({ dataDir, report: (line) => void process.stderr.write(`${line}\n`) })
  try {
    await measure(stack, receiver)
  } finally {
    await stack.stop()
    await receiver.close()
  }
}

const { rounds, idle, tail } = values
const isSound = Number(rounds) >= 1 && Number(idle) >= 0 && Number(tail) >= 0
if (values.help) print(USAGE)
else if (isSound) await main()
else {
  process.stderr.write(USAGE)
  process.exitCode = 2
}
