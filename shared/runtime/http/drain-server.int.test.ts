import { Agent, createServer, request, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { prepareDrain } from './http-server.ts'

const endings: (() => void)[] = []
afterEach(() => {
  for (const end of endings.splice(0)) end()
})

/** A server on a free port, and a client that keeps one connection open and repeats nothing. */
async function start(answer: (response: ServerResponse) => void) {
  const server: Server = createServer((_request, response) => answer(response))
  server.keepAliveTimeout = 60_000
  const drain = prepareDrain(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  endings.push(
    () => agent.destroy(),
    () => server.closeAllConnections(),
  )
  const get = () =>
    new Promise<{ readonly body: string; readonly connection: string | undefined }>((resolve, reject) => {
      const sent = request({ host: '127.0.0.1', port, agent }, (response) => {
        let body = ''
        response.setEncoding('utf8').on('data', (text: string) => {
          body += text
        })
        response.on('end', () => resolve({ body, connection: response.headers.connection }))
        response.on('error', reject)
      })
      sent.on('error', reject)
      sent.end()
    })
  return { drain, get }
}

// Guarantee: a client that sends one request after the other on one connection loses none when the server ends.
it('answers the next request of a busy connection and tells the client to leave it', async () => {
  const { drain, get } = await start((response) => response.end('ok'))
  for (let count = 0; count < 20; count += 1) expect((await get()).connection).toBe('keep-alive')
  const closed = drain.close({ cutAfterMs: null })
  expect(await get()).toEqual({ body: 'ok', connection: 'close' })
  await closed
  await expect(get()).rejects.toMatchObject({ code: 'ECONNREFUSED' })
})

it('finishes a request that it had received, and tells the client to leave the connection', async () => {
  const waiting: ServerResponse[] = []
  const { drain, get } = await start((response) => void waiting.push(response))
  const answer = get()
  await expect.poll(() => waiting.length).toBe(1)
  const closed = drain.close({ cutAfterMs: null })
  waiting[0]?.end('late')
  expect(await answer).toEqual({ body: 'late', connection: 'close' })
  await closed
})

it('closes an idle connection after a while', async () => {
  const { drain, get } = await start((response) => response.end('ok'))
  await get()
  await drain.close({ cutAfterMs: null })
})

it('cuts what is still open when it may wait no longer', async () => {
  let begun = 0
  const { drain, get } = await start((response) => {
    begun += 1
    response.write('begun')
  })
  const answer = get().catch((error: unknown) => error)
  await expect.poll(() => begun).toBe(1)
  await drain.close({ cutAfterMs: 100 })
  expect(await answer).toMatchObject({ code: 'ECONNRESET' })
})
