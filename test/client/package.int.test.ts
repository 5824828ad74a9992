import { execFile } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { deepTest, sampleOf } from '#test/support/depth.ts'

const run = promisify(execFile)
const ROOT = join(import.meta.dirname, '..', '..')
const CLIENT = join(ROOT, 'clients', 'typescript')
/** The compiler of this repository and the one before its rewrite: merchants have either. */
const COMPILERS = { 'TypeScript 7': '@typescript/native/bin/tsc', 'TypeScript 6': 'typescript/bin/tsc6' }

/** A merchant's program: it compiles only with the right types, and prints `ok` only when the client works. */
const CONSUMER = `
import { createHmac } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createPaymesh, type Invoice, type InvoiceCreate, PaymeshApiError, verifyWebhook } from '@paymesh/client'

const seen: string[] = []
const server = createServer((request, response) => {
  seen.push(request.method + ' ' + request.url)
  const data = request.method === 'POST' ? { id: 'i', status: 'new' } : [{ id: 'i' }]
  const meta = { next_cursor: null, has_more: false }
  response.writeHead(seen.length === 1 ? 503 : 200).end(JSON.stringify({ data, meta, error: null, request_id: 'req_1' }))
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const { port } = server.address() as AddressInfo
const baseUrl = 'http://127.0.0.1:' + port + '/api/v1'
const paymesh = createPaymesh({ apiKey: 'pm_test_example', baseUrl, fetch: globalThis.fetch })

const input: InvoiceCreate = { amount: '25.00', currency: 'USD', asset: 'btc_bitcoin' }
const invoice: Invoice = await paymesh.invoices.create(input, { signal: AbortSignal.timeout(20_000) })
const ids: string[] = []
for await (const each of paymesh.invoices.list({ status: 'paid' })) ids.push(each.id)
server.close()

const secret = 'whsec_example'
const body = JSON.stringify({ id: 'evt_1', object: 'event', type: 'payment.detected', data: { object: {}, payment: { tx_hash: '0x1' } } })
const t = Math.floor(Date.now() / 1000)
const event = verifyWebhook(body, 't=' + t + ',v1=' + createHmac('sha256', secret).update(t + '.' + body).digest('hex'), secret)
const hash: string | null = event.type === 'payment.detected' ? event.data.payment.tx_hash : null
const code = (error: unknown) => (error instanceof PaymeshApiError && error.code === 'INVALID_STATE' ? error.details[0]?.path : null)

export const wrong = [
  // @ts-expect-error an amount is a string
  (): unknown => paymesh.invoices.create({ amount: 25, currency: 'USD' }),
  // @ts-expect-error a price has a currency
  (): unknown => paymesh.invoices.create({ amount: '25' }),
  // @ts-expect-error no such currency
  (): unknown => paymesh.invoices.create({ amount: '25', currency: 'XXX' }),
  // @ts-expect-error no such state
  (): unknown => paymesh.invoices.list({ status: 'done' }),
  // @ts-expect-error no such scenario
  (): unknown => paymesh.invoices.simulate('id', 'lost'),
  // A later server may have more codes.
  (error: PaymeshApiError): boolean => error.code === 'SOMETHING',
  // @ts-expect-error only payment events carry a payment
  (): unknown => (event.type === 'invoice.paid' ? event.data.payment.tx_hash : null),
]
if (hash === '0x1' && code(null) === null && invoice.status === 'new' && ids.join() === 'i' && seen.length === 3)
  process.stdout.write('ok')
`

/** What the examples of the README take from the merchant's own program. */
const README_SURROUNDINGS = `
import type { Express, Response } from 'express'
import type { Invoice, OrderState, Paymesh, WebhookHandler } from '@paymesh/client'
declare global {
  const paymesh: Paymesh
  const app: Express
  var webhooks: WebhookHandler
  const createServer: typeof import('node:http').createServer
  const response: Response
  const order: { id: string }
  const id: string
  const invoice: Invoice
  const secret: string
  const database: { transaction(work: (tx: Transaction) => Promise<void>): Promise<void> }
  interface Transaction {
    lockOrder(id: string | null): Promise<{ state: OrderState; shippedBy: string | null }>
    noteSeen(invoiceId: string, updatedAt: string): Promise<boolean>
    ship(order: object, invoiceId: string): Promise<void>
    saveMoneyToReturn(invoiceId: string, base: bigint): Promise<void>
    saveState(order: object, state: OrderState): Promise<void>
  }
  function saveSecret(secret: string): Promise<void>
}
`

/** Every TypeScript example of the README: its blocks, and the lines of its table of servers. */
async function readmeExamples(): Promise<Readonly<Record<'blocks' | 'lines', readonly string[]>>> {
  const text = await readFile(join(CLIENT, 'README.md'), 'utf8')
  const [, rows = ''] = /^\| server \| line \|\n.*\n((?:\|.*\n)+)/m.exec(text) ?? []
  return {
    blocks: [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = '']) => code),
    lines: [...rows.matchAll(/^\|[^|]*\| `([^`]+)`/gm)].map(([, code = '']) => `${code}\n`),
  }
}

describe('the published package', () => {
  let shop = ''
  const inShop = (...path: string[]): string => join(shop, ...path)

  const compile = async (compiler: string, settings: object, files: readonly string[]): Promise<string> => {
    const compilerOptions = {
      target: 'es2022',
      lib: ['es2022'],
      types: ['node'],
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      ...settings,
    }
    await writeFile(inShop('tsconfig.json'), JSON.stringify({ compilerOptions, files }))
    const command = [join(ROOT, 'node_modules', compiler), '-p', shop]
    return await run(process.execPath, command).then(
      () => '',
      (failure: { stdout: string }) => failure.stdout,
    )
  }

  beforeAll(async () => {
    shop = await mkdtemp(join(tmpdir(), 'paymesh-shop-'))
    const installed = inShop('node_modules', '@paymesh', 'client')
    await mkdir(installed, { recursive: true })
    for (const file of ['package.json', 'README.md', 'LICENSE'])
      await copyFile(join(CLIENT, file), join(installed, file))
    const tsc = join(ROOT, 'node_modules', COMPILERS['TypeScript 7'])
    await run(process.execPath, [tsc, '-p', CLIENT, '--outDir', join(installed, 'dist')])
    for (const name of ['@types', 'undici-types'])
      await symlink(join(ROOT, 'node_modules', name), inShop('node_modules', name))
    await writeFile(inShop('package.json'), '{"type":"module"}')
    await writeFile(inShop('shop.ts'), CONSUMER)
  })
  afterAll(async () => {
    await rm(shop, { recursive: true, force: true })
  })

  deepTest.each(
    sampleOf(
      [
        ['TypeScript 7', 'nodenext', 'nodenext'],
        ['TypeScript 7', 'esnext', 'bundler'],
        ['TypeScript 6', 'nodenext', 'nodenext'],
      ] as const,
      1,
    ),
  )('compiles in a strict program under %s, %s modules, checked down to its declarations', async (...row) => {
    const [compiler, module, moduleResolution] = row
    const settings = { module, moduleResolution, skipLibCheck: false, noEmit: true }
    expect(await compile(COMPILERS[compiler], settings, ['shop.ts'])).toBe('')
  })

  deepTest('runs under plain node', async () => {
    expect(await compile(COMPILERS['TypeScript 7'], { module: 'nodenext', outDir: inShop('out') }, ['shop.ts'])).toBe(
      '',
    )
    expect((await run(process.execPath, [inShop('out', 'shop.js')])).stdout).toBe('ok')
  })

  it('needs nothing but node and holds nothing but itself', async () => {
    const manifest = JSON.parse(await readFile(join(CLIENT, 'package.json'), 'utf8')) as Record<string, unknown>
    expect(Object.keys(manifest).filter((key) => /dependencies/i.test(key))).toEqual([])
    const dist = inShop('node_modules', '@paymesh', 'client', 'dist')
    const files = await readdir(dist)
    expect(files).toContain('main.d.ts')
    expect(files.filter((file) => /test|fixture/.test(file))).toEqual([])
    for (const file of files.filter((name) => name.endsWith('.js'))) {
      const code = await readFile(join(dist, file), 'utf8')
      for (const [, from = ''] of code.matchAll(/\b(?:from|import) ?\(?['"]([^'"]+)['"]/g))
        expect(from, `import in ${file}`).toMatch(/^(node:crypto|\.\/[a-z.-]+\.js)$/)
    }
  })

  deepTest('has a README whose examples compile', async () => {
    await writeFile(inShop('surroundings.d.ts'), README_SURROUNDINGS)
    const { blocks, lines } = await readmeExamples()
    // One for each thing that a shop does: sell, register, receive, list, take errors; and one line for each server.
    for (const call of [
      'invoices.ensure',
      'webhookEndpoints.create',
      'createWebhookHandler',
      '.page()',
      'PaymeshApiError',
    ])
      expect(
        blocks.filter((block) => block.includes(call)),
        call,
      ).not.toEqual([])
    expect(lines).toHaveLength(3)
    const write = async (examples: readonly string[], folder: string) =>
      await Promise.all(
        examples.map(async (example, index) => {
          const file = join(folder, `example-${index}.ts`)
          await writeFile(inShop(file), `${example}export {}\n`)
          return file
        }),
      )
    // A line stands where Next has its routes, two folders below the program, and is resolved by a bundler as there.
    await mkdir(inShop('app', 'paymesh'), { recursive: true })
    await writeFile(inShop('shop.ts'), 'const { webhooks } = globalThis\nexport { webhooks }\n')
    const settings = { skipLibCheck: true, noEmit: true }
    const ofShop = ['surroundings.d.ts', ...(await write(blocks, '.'))]
    expect(await compile(COMPILERS['TypeScript 7'], { ...settings, module: 'nodenext' }, ofShop)).toBe('')
    const ofServers = ['surroundings.d.ts', 'shop.ts', ...(await write(lines, join('app', 'paymesh')))]
    const asNext = { ...settings, module: 'preserve', moduleResolution: 'bundler' }
    expect(await compile(COMPILERS['TypeScript 7'], asNext, ofServers)).toBe('')
  })

  it('is used by the example of the project’s README as it stands there', async () => {
    const text = await readFile(join(ROOT, 'README.md'), 'utf8')
    const [example = ''] = [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = '']) => code)
    expect(example).toContain('createPaymesh')
    const given = `import { createPaymesh, verifyWebhook } from '@paymesh/client'
declare const apiKey: string, rawBody: Uint8Array, secret: string
declare const request: import('node:http').IncomingMessage
`
    await writeFile(inShop('readme.ts'), `${given}${example}export { event, invoice }\n`)
    const settings = { module: 'nodenext', skipLibCheck: true, noEmit: true }
    expect(await compile(COMPILERS['TypeScript 7'], settings, ['readme.ts'])).toBe('')
  })
})
