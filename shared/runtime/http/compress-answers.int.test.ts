import { once } from 'node:events'
import { type IncomingMessage, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { brotliDecompressSync } from 'node:zlib'
import express from 'express'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { compressAnswers } from './http-server.ts'

const ROWS = Array.from({ length: 400 }, (_, number) => ({ number, status: 'paid', amount: '25.00' }))
const LARGE = Buffer.alloc(8 * 1_048_576, 'the same words again ')
const PIECE_BYTES = 1_048_576
let server: Server
let sendEvent: () => void = () => undefined

beforeAll(async () => {
  const app = express()
  app.use(compressAnswers(1_024))
  app.get('/rows', (_request, response) => void response.json(ROWS))
  app.get('/row', (_request, response) => void response.json(ROWS[0]))
  app.get('/fixed', (_request, response) => void response.set('Cache-Control', 'no-transform').json(ROWS))
  app.get('/large', async (_request, response) => {
    response.type('json')
    for (let at = 0; at < LARGE.length; at += PIECE_BYTES) {
      if (!response.write(LARGE.subarray(at, at + PIECE_BYTES))) await once(response, 'drain')
    }
    response.end()
  })
  app.get('/events', (_request, response) => {
    response.status(200).set('Content-Type', 'text/event-stream; charset=utf-8')
    response.flushHeaders()
    sendEvent = () => void response.write('data: paid\n\n')
  })
  server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterAll(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

async function send(path: string, headers: Readonly<Record<string, string>>, method = 'GET'): Promise<IncomingMessage> {
  const { port } = server.address() as AddressInfo
  const sent = request({ host: '127.0.0.1', port, path, method, agent: false, headers }).end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  return response
}

async function bytesOf(response: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const part of response) parts.push(part as Buffer)
  return Buffer.concat(parts)
}

test('a list arrives smaller and complete', async () => {
  const response = await send('/rows', { 'accept-encoding': 'gzip, br' })
  const bytes = await bytesOf(response)
  expect([response.headers['content-encoding'], response.headers.vary]).toEqual(['br', 'Accept-Encoding'])
  expect(bytes.length).toBeLessThan(JSON.stringify(ROWS).length / 5)
  expect(JSON.parse(brotliDecompressSync(bytes).toString())).toEqual(ROWS)
})

test.each([
  ['a response below the threshold', '/row', { 'accept-encoding': 'br' }],
  ['a response that forbids it', '/fixed', { 'accept-encoding': 'br' }],
  ['a client that accepts nothing of it', '/rows', {}],
  ['a client that refuses it', '/rows', { 'accept-encoding': 'br;q=0, gzip;q=0' }],
])('%s stays as it is', async (_name, path, headers) => {
  const response = await send(path, headers)
  expect(response.headers['content-encoding']).toBeUndefined()
  expect(JSON.parse((await bytesOf(response)).toString())).toBeTruthy()
})

// A slow reader must not lose a piece: the handler waits for `drain`, which the compressor raises.
test('a response in many pieces is complete for a reader that stops in between', async () => {
  const response = await send('/large', { 'accept-encoding': 'br' })
  const parts: Buffer[] = []
  for await (const part of response) {
    parts.push(part as Buffer)
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(brotliDecompressSync(Buffer.concat(parts)).equals(LARGE)).toBe(true)
})

// Guarantee: a payer sees the payment when it is seen. The stream below ends only with the test, so that a held-back event never arrives.
test.each([{ accept: 'text/event-stream' }, {}])('an event arrives while its stream is open (%o)', async (accept) => {
  const response = await send('/events', { 'accept-encoding': 'gzip, br', ...accept })
  expect(response.headers['content-encoding']).toBeUndefined()
  sendEvent()
  const [first] = (await once(response, 'data')) as [Buffer]
  expect(first.toString()).toBe('data: paid\n\n')
  response.destroy()
})
