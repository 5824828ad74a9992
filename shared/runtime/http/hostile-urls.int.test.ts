import { createServer, type Server, Socket } from 'node:net'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { HOSTILE_URLS, type HostileUrl, REBINDING_URLS } from '#test/vectors/hostile-urls.ts'
import { createEgressGuard } from './egress-guard.ts'
import { createWebhookHttp } from './webhook-http.ts'

/** Every port of a canary is open on every address of this machine, so a connection to any of them is seen. */
let canaries: Server[] = []
let port: number
let connections = 0

beforeAll(async () => {
  const listen = (host: string, at: number): Promise<number> =>
    new Promise((resolve, reject) => {
      const server = createServer((socket) => {
        connections += 1
        socket.destroy()
      })
      canaries.push(server)
      server.on('error', reject)
      server.listen({ host, port: at, ipv6Only: host === '::' }, () => {
        const address = server.address()
        resolve(typeof address === 'object' && address !== null ? address.port : 0)
      })
    })
  port = await listen('0.0.0.0', 0)
  await listen('::', port)
})
afterAll(async () => {
  await Promise.all(canaries.map((server) => new Promise((resolve) => server.close(resolve))))
  canaries = []
})

const ATTEMPTS = 3

/** Registers the URL and then calls it anyway, as if it had been registered long ago: what came of both. */
async function tryAll({ url, lookUps }: HostileUrl, allowLocalhost: boolean) {
  const script = [...lookUps]
  const resolve = async (): Promise<readonly string[]> => {
    const answer = (script.length > 1 ? script.shift() : script[0]) ?? []
    if (answer.length === 0) throw new Error('NXDOMAIN')
    return answer
  }
  const target = url.replaceAll('{port}', String(port))
  const created = await createEgressGuard({ allowLocalhost, resolve }).check(target, { testOnly: allowLocalhost })
  const http = createWebhookHttp({ resolve })
  const faults: string[] = []
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const result = await http.post({
      ...{
        url: target,
        headers: {},
        body: Buffer.from('{}'),
        timeoutMs: 2_000,
        maxResponseBytes: 1_024,
        allowLocalhost,
      },
    })
    faults.push(result.outcome === 'failed' ? result.error : `answered ${result.status}`)
  }
  await http.close()
  return { created, faults }
}

const REFUSED = ['blocked_address', 'bad_url']

// Guarantee: no spelling of an address that is not public, and no name that leads to one, is ever connected to.
test(`${HOSTILE_URLS.length} hostile URLs are refused at creation and at connect, without one connection`, async () => {
  const connect = vi.spyOn(Socket.prototype, 'connect')
  const wrong: unknown[] = []
  for (const hostile of HOSTILE_URLS) {
    for (const allowLocalhost of [false, true]) {
      const { created, faults } = await tryAll(hostile, allowLocalhost)
      if (created.ok || !faults.every((fault) => REFUSED.includes(fault))) {
        wrong.push({ url: hostile.url, allowLocalhost, created, faults })
      }
    }
  }
  expect(wrong).toEqual([])
  expect(connect).not.toHaveBeenCalled()
  expect(connections).toBe(0)
  connect.mockRestore()
})

// Guarantee: a name that is public when it is registered and leads inside when it is called reaches nobody.
test(`${REBINDING_URLS.length} rebinding names are refused at connect, without one connection`, async () => {
  const connect = vi.spyOn(Socket.prototype, 'connect')
  const wrong: unknown[] = []
  for (const hostile of REBINDING_URLS) {
    const { created, faults } = await tryAll(hostile, false)
    // The check at creation has nothing against it; the guard at connect has.
    if (!created.ok || !faults.every((fault) => [...REFUSED, 'dns'].includes(fault)) || faults.at(-1) === 'dns') {
      wrong.push({ url: hostile.url, lookUps: hostile.lookUps, created, faults })
    }
  }
  expect(wrong).toEqual([])
  expect(connect).not.toHaveBeenCalled()
  expect(connections).toBe(0)
  connect.mockRestore()
})

test('the canary sees a connection, and the corpus is as large as promised', async () => {
  for (const host of ['127.0.0.1', '127.8.8.8', '::1']) {
    await new Promise<void>((resolve) =>
      new Socket()
        .on('close', resolve)
        .on('error', () => undefined)
        .connect(port, host),
    )
  }
  expect(connections).toBe(3)
  expect(new Set(HOSTILE_URLS.map(({ url }) => url)).size).toBeGreaterThanOrEqual(300)
  expect(REBINDING_URLS.length).toBeGreaterThanOrEqual(20)
})
