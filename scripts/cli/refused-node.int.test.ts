import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { useStores } from '#test/support/stores.ts'
import { runCli } from './main.ts'

const stores = useStores()
let node: Server
let port = 0
let printed = ''

/** A node of another chain: it answers everything, as a node of Ethereum's main network would. */
beforeAll(async () => {
  node = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      const calls = [JSON.parse(body)].flat() as { id: number; method: string }[]
      const answers = calls.map(({ id, method }) => ({
        jsonrpc: '2.0',
        id,
        result: method === 'eth_chainId' || method === 'eth_blockNumber' ? '0x1' : null,
      }))
      const text = JSON.stringify(body.trimStart().startsWith('[') ? answers : answers[0])
      response.setHeader('content-type', 'application/json').end(text)
    })
  }).listen(0, '127.0.0.1')
  await once(node, 'listening')
  const address = node.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  port = address.port
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed += String(text)
    return true
  })
})
afterAll(() => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
  node.closeAllConnections()
  node.close()
})

async function run(...args: readonly string[]): Promise<string> {
  const secret = (byte: number) => Buffer.alloc(32, byte).toString('base64')
  const settings = {
    ...{ MONGO_URL: stores.mongoUrl, REDIS_URL: stores.redisUrl },
    ...{ PAYMESH_MONGO_DATABASE: stores.database, PAYMESH_REDIS_PREFIX: stores.prefix },
    ...{ PAYMESH_MASTER_KEY: secret(7), PAYMESH_KEY_PEPPER: secret(8), PAYMESH_ENV: 'test' },
    PAYMESH_NETWORKS: JSON.stringify({
      test: { ethereum: { rpcUrls: [`http://127.0.0.1:${port}/v3/a-secret-token`], chainId: 31_337 } },
    }),
  }
  for (const [name, value] of Object.entries(settings)) vi.stubEnv(name, value)
  printed = ''
  await runCli(args)
  process.exitCode = undefined
  return printed
}

// Guarantee: an operator who entered the URL of another chain reads that, before a first block was ever scanned; no token is printed.
it('says why a node is refused', async () => {
  const reason = new RegExp(`127\\.0\\.0\\.1:${port}: .*chain.* 1\\b.*31337`)
  const status = await run('chain', 'status')
  expect(status).toContain('never_scanned')
  expect(status).toMatch(new RegExp(`test ethereum: node ${reason.source}`))
  const doctor = await run('doctor')
  expect(doctor).toMatch(new RegExp(`^✗ test ethereum nodes: 1 of 1 cannot be used: ${reason.source}`, 'm'))
  expect(status + doctor).not.toContain('a-secret-token')
})
