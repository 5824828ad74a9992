import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { PROVIDER_REFUSALS, type ProviderRefusal } from '#test/support/provider-refusals.ts'
import { createJsonRpc, type RpcOptions } from '../nodes/json-rpc.ts'
import { classify as evm } from './evm/rpc-failure.ts'
import { classify as solana } from './solana/rpc-failure.ts'
import { classify as core } from './utxo/core-failure.ts'

const UNCOUNTED = { metrics: { count: () => {}, gauge: () => {}, observe: () => {} }, labels: {} }
const CLASSIFIERS: Readonly<Record<keyof typeof PROVIDER_REFUSALS, RpcOptions['classify']>> = { evm, solana, core }

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
describe.each(Object.entries(CLASSIFIERS))('refusals of %s', (family, classify) => {
  it.each(PROVIDER_REFUSALS[family as keyof typeof PROVIDER_REFUSALS])(
    'by $provider mean $meaning: $status $code $text',
    async (row) => {
      refusal = row
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      // With a second node nothing is repeated because of a rate.
      const rpc = createJsonRpc({ urls: [url, url], identify: async () => {}, classify, ...UNCOUNTED })
      try {
        await expect(rpc.call('balance', [], z.unknown())).rejects.toMatchObject({ kind: row.meaning })
      } finally {
        await rpc.close()
      }
    },
  )
})
