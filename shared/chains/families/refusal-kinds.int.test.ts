import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { PROVIDER_REFUSALS, type ProviderRefusal } from '#test/support/provider-refusals.ts'
import { createJsonRpc, type RpcOptions } from '../nodes/json-rpc.ts'
import { classify as evm } from './evm/rpc-failure.ts'
import { classify as solana } from './solana/rpc-failure.ts'
import { createTronApi } from './tron/api.ts'
import { classify as core } from './utxo/core-failure.ts'

const UNCOUNTED = { metrics: { count: () => {}, gauge: () => {}, observe: () => {} }, labels: {} }
const jsonRpc = (classify: RpcOptions['classify']) => (url: string) => {
  // With a second node nothing is repeated because of a rate.
  const rpc = createJsonRpc({ urls: [url, url], identify: async () => {}, classify, ...UNCOUNTED })
  return { call: () => rpc.use((node) => node.call('balance', [], z.unknown())), close: () => rpc.close() }
}
const tron = (url: string) => {
  const pool = createTronApi({ urls: [url], genesis: 'any', perSecond: null, ...UNCOUNTED })
  return { call: () => pool.use(async () => {}), close: () => pool.close() }
}
const FAMILIES: Readonly<Record<keyof typeof PROVIDER_REFUSALS, ReturnType<typeof jsonRpc>>> = {
  evm: jsonRpc(evm),
  solana: jsonRpc(solana),
  core: jsonRpc(core),
  tron,
}

let refusal: ProviderRefusal
const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const { id } = JSON.parse(Buffer.concat(chunks).toString()) as { id: number }
    const { status, code, text } = refusal
    response.writeHead(status)
    response.end(code === null ? text : JSON.stringify({ jsonrpc: '2.0', id, error: { code, message: text } }))
  })
})
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)))
afterAll(() => new Promise((resolve) => server.close(resolve)))

// Guarantee: no sentence of a provider becomes "nothing there" or "dropped for good" unless a node's own words say that.
describe.each(Object.entries(FAMILIES))('refusals of %s', (family, open) => {
  it.each(PROVIDER_REFUSALS[family as keyof typeof PROVIDER_REFUSALS])(
    'by $provider mean $meaning: $status $code $text',
    async (row) => {
      refusal = row
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      const { call, close } = open(url)
      try {
        await expect(call()).rejects.toMatchObject({ kind: row.meaning })
      } finally {
        await close()
      }
    },
  )
})
