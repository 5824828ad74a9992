import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { builtAssets } from './built-assets.ts'

const SCRIPT = 'export const text = "a script of the pages";\n'.repeat(100)
const SECRET = 'beside the built files'
let folder: string
let server: Server

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'paymesh-assets-'))
  const assets = join(folder, 'assets')
  mkdirSync(assets)
  writeFileSync(join(folder, 'secret.txt'), SECRET)
  writeFileSync(join(assets, 'main-1a2b.js'), SCRIPT)
  writeFileSync(join(assets, 'main-1a2b.js.br'), brotliCompressSync(SCRIPT))
  writeFileSync(join(assets, 'main-1a2b.js.gz'), gzipSync(SCRIPT))
  writeFileSync(join(assets, 'tiny-3c4d.css'), 'a{}')
  const serve = builtAssets(assets)
  server = createServer((incoming, response) =>
    serve(incoming, response, () => response.writeHead(404, { 'Cache-Control': 'no-store' }).end('next')),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  await new Promise((resolve) => server.close(resolve))
  rmSync(folder, { recursive: true, force: true })
})

/** The response as it was sent: `fetch` would decompress it. */
async function send(path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET') {
  const { port } = server.address() as AddressInfo
  return await new Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; body: Buffer }>(
    (resolve, reject) => {
      request({ host: '127.0.0.1', port, path, method, headers, agent: false }, (response) => {
        const parts: Buffer[] = []
        response.on('data', (part: Buffer) => parts.push(part))
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(parts) }),
        )
        response.on('error', reject)
      })
        .on('error', reject)
        .end()
    },
  )
}

test('sends the form that the client accepts, and caches keep them apart', async () => {
  const [br, gzip, plain] = await Promise.all([
    send('/main-1a2b.js', { 'accept-encoding': 'gzip, deflate, br, zstd' }),
    send('/main-1a2b.js', { 'accept-encoding': 'gzip' }),
    send('/main-1a2b.js'),
  ])
  expect(brotliDecompressSync(br.body).toString()).toBe(SCRIPT)
  expect(gunzipSync(gzip.body).toString()).toBe(SCRIPT)
  expect(plain.body.toString()).toBe(SCRIPT)
  expect([br, gzip, plain].map(({ headers }) => headers['content-encoding'])).toEqual(['br', 'gzip', undefined])
  for (const { status, headers } of [br, gzip, plain]) {
    expect([status, headers['content-type']]).toEqual([200, 'text/javascript; charset=utf-8'])
    expect(headers['cache-control']).toBe('public, max-age=31536000, immutable')
    expect(headers['vary']).toBe('Accept-Encoding')
  }
})

test('a file without a smaller form is sent as it is', async () => {
  const { status, headers, body } = await send('/tiny-3c4d.css', { 'accept-encoding': 'br, gzip' })
  expect([status, headers['content-type'], headers['content-encoding']]).toEqual([
    200,
    'text/css; charset=utf-8',
    undefined,
  ])
  expect(body.toString()).toBe('a{}')
})

test('HEAD has the headers of GET and no body', async () => {
  const { status, headers, body } = await send('/main-1a2b.js', { 'accept-encoding': 'br' }, 'HEAD')
  expect([status, headers['content-encoding'], body.length]).toEqual([200, 'br', 0])
  expect(Number(headers['content-length'])).toBe(brotliCompressSync(SCRIPT).length)
})

// Attack: a script is used whole, whatever part of it is requested.
test.each(['bytes=5-2', 'bytes=-1', 'bytes=99999999-', 'bytes=x-y', 'bytes=0-0,2-4'])(
  'sends the whole file to a client that asks for %s',
  async (range) => {
    const { status, body } = await send('/main-1a2b.js', { range })
    expect([status, body.toString()]).toEqual([200, SCRIPT])
  },
)

// Attack: no path leads to a file outside the folder, and a refusal is never cached as long as a file.
test.each([
  '/nothing.js',
  '/',
  '/../secret.txt',
  '/..%2fsecret.txt',
  '/%2e%2e/secret.txt',
  '/..%5csecret.txt',
  '/%00',
  '/%zz',
  '//secret.txt',
  '/main-1a2b.js/../../secret.txt',
])('hands %s to the next step', async (path) => {
  const { status, headers, body } = await send(path, { 'accept-encoding': 'br' })
  expect([status, body.toString(), headers['cache-control']]).toEqual([404, 'next', 'no-store'])
})

test('hands a POST to the next step', async () => {
  expect((await send('/main-1a2b.js', {}, 'POST')).status).toBe(404)
})

test('refuses a form with q=0, and serves no form under its own name', async () => {
  const { headers, body } = await send('/main-1a2b.js', { 'accept-encoding': 'br;q=0, gzip;q=0' })
  expect([headers['content-encoding'], body.toString()]).toEqual([undefined, SCRIPT])
  expect((await send('/main-1a2b.js.br')).status).toBe(404)
})

// Attack: an upgrade in place removes the files under a running process.
test('goes on serving files that were removed', async () => {
  rmSync(join(folder, 'assets'), { recursive: true })
  expect((await send('/main-1a2b.js')).body.toString()).toBe(SCRIPT)
})
