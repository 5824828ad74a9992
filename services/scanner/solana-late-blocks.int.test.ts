import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { startSurfpoolNode } from '#dev/local-chain/surfpool-node.ts'
import { useFamilyStage } from '#test/support/family-stage.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
const stage = useFamilyStage(stores, 'solana', 'solana')

/** A gateway that votes with the node, and has its blocks two slots later. */
async function startGateway(url: string, newestSlot: () => Promise<number>): Promise<string> {
  const server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const body = Buffer.concat(chunks).toString()
      const { method, params, id } = JSON.parse(body) as { method: string; params: [number]; id: number }
      if (method === 'getBlock' && params[0] > (await newestSlot()) - 2) {
        const error = { code: -32_004, message: `Block not available for slot ${params[0]}` }
        response.end(JSON.stringify({ jsonrpc: '2.0', id, error }))
        return
      }
      const headers = { 'content-type': 'application/json' }
      response.end(await (await fetch(url, { method: 'POST', headers, body })).text())
    })().catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

// Guarantee: a provider whose block store is behind its votes, from the first start on, delays payments by that much and no more.
it('follows a real node behind a gateway that is always two slots behind with its blocks', async () => {
  const node = await startSurfpoolNode({ slotTimeMs: 200 })
  onTestFinished(() => node.stop())
  const newestSlot = async () => (await node.rpc('getSlot', [{ commitment: 'confirmed' }])) as number
  stage.scan([await startGateway(node.url, newestSlot)])
  await stage.untilHeight(await newestSlot())
  await node.pay({ asset: 'sol_solana', to: stage.watched.address, amountBase: 5_000_000n })
  await stage.untilPayments([{ amount: '5000000' }])
  await stage.untilHeight((await newestSlot()) + 10)
  expect((await stage.cursor())?.trouble ?? null).toBeNull()
})
