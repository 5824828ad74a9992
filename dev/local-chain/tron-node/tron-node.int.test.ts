import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest'
import { formatAccount } from '#shared/chains/families/tron/address.ts'
import { startTronNode, type TronNode, type TronNodeOptions } from './start-tron-node.ts'

const BOB = formatAccount('b'.repeat(40))
const folder = mkdtempSync(join(tmpdir(), 'paymesh-tron-'))
const running: TronNode[] = []
const start = async (options: TronNodeOptions = {}): Promise<TronNode> => {
  const node = await startTronNode({ blockTimeMs: null, ...options })
  running.push(node)
  return node
}
afterEach(async () => {
  for (const node of running.splice(0)) await node.stop()
})
afterAll(() => rmSync(folder, { recursive: true }))

type Json = Record<string, unknown>
const request = async (node: TronNode, path: string, body: Json = {}) => {
  const response = await fetch(`${node.url}/${path}`, { method: 'POST', body: JSON.stringify(body) })
  return (await response.json()) as Json & { blockID: string; transactions?: Json[] }
}

describe('the TRON development node', () => {
  it('answers as a full node does, zeros and absences included', async () => {
    const node = await start({ solidLag: 1 })
    const { txHash } = await node.pay({ asset: 'usdt_tron', to: BOB, amountBase: 5n })
    expect(await request(node, 'wallet/gettransactionlistfrompending')).toEqual({ txId: [txHash] })
    node.mine(2)
    const genesis = await request(node, 'wallet/getblockbynum', { num: 0 })
    expect(genesis['block_header']).not.toHaveProperty('raw_data.number')
    expect(genesis.blockID).toMatch(/^0{16}/)
    expect(await request(node, 'wallet/gettransactioninfobyblocknum', { num: 0 })).toEqual({})
    expect(await request(node, 'wallet/gettransactioninfobyblocknum', { num: 2 })).toEqual([])
    expect(await request(node, 'wallet/getblockbynum', { num: 9 })).toEqual({})
    const first = await request(node, 'wallet/getblockbynum', { num: 1 })
    expect(first).toMatchObject({
      block_header: { raw_data: { number: 1, parentHash: genesis.blockID } },
      transactions: [{ txID: txHash, ret: [{ contractRet: 'SUCCESS' }] }],
    })
    expect(await request(node, 'wallet/getblockbyid', { value: first.blockID })).toEqual(first)
    expect(await request(node, 'walletsolidity/getnowblock')).toEqual(first)
    expect(await request(node, 'walletsolidity/getblockbynum', { num: 2 })).toEqual({})
    expect(await request(node, 'wallet/getblockbylimitnext', { startNum: 0, endNum: 2 })).toEqual({
      block: [genesis, first],
    })
    expect(await request(node, 'wallet/gettransactionbyid', { value: txHash })).toEqual(first.transactions?.[0])
    expect(await request(node, 'wallet/gettransactioninfobyid', { value: txHash })).toMatchObject({
      id: txHash,
      blockNumber: 1,
    })
    expect(await request(node, 'wallet/gettransactionbyid', { value: 'none' })).toEqual({})
  })

  it('refuses in the words of a full node', async () => {
    const node = await start()
    expect(await request(node, 'wallet/getblockbynum', { num: -1 })).toEqual({
      Error: expect.stringMatching(/^class /),
    })
    expect(await request(node, 'wallet/getnowblock', { visible: true })).toEqual({
      Error: expect.stringMatching(/^class /),
    })
    expect(await request(node, 'wallet/broadcasttransaction', { txID: 'f' })).toMatchObject({ code: 'SIGERROR' })
    expect((await fetch(`${node.url}/wallet/nosuch`)).status).toBe(404)
  })

  it('makes blocks by itself', async () => {
    const node = await start({ blockTimeMs: 20 })
    await vi.waitFor(() => expect(node.solidHeight()).toBeGreaterThan(1), 5_000)
  })

  it('replaces blocks that are not solid, with what shall stay', async () => {
    const node = await start({ solidLag: 3 })
    node.mine(2)
    const { txHash: kept } = await node.pay({ asset: 'trx_tron', to: BOB, amountBase: 5n })
    const { txHash: dropped } = await node.pay({ asset: 'trx_tron', to: BOB, amountBase: 5n })
    node.mine(2)
    const before = await request(node, 'wallet/getblockbynum', { num: 3 })
    node.reorg(2, [[kept, 1]])
    const after = await request(node, 'wallet/getblockbynum', { num: 3 })
    expect(node.height()).toBe(4)
    expect(after.blockID).not.toBe(before.blockID)
    expect(after['block_header']).toMatchObject({
      raw_data: { parentHash: (await request(node, 'wallet/getblockbynum', { num: 2 })).blockID },
    })
    expect(await request(node, 'wallet/gettransactioninfobyid', { value: kept })).toMatchObject({ blockNumber: 4 })
    expect(await request(node, 'wallet/gettransactioninfobyid', { value: dropped })).toEqual({})
    expect(() => node.reorg(4)).toThrow(/solid/)
  })

  it('goes on where it was stopped', async () => {
    const dataDir = join(folder, 'kept')
    const first = await start({ dataDir })
    await first.pay({ asset: 'usdt_tron', to: BOB, amountBase: 5n })
    first.mine(5)
    const block = await request(first, 'wallet/getblockbynum', { num: 1 })
    const { txHash } = await first.pay({ asset: 'trx_tron', to: BOB, amountBase: 9_007_199_254_740_993n })
    await first.stop()
    const second = await start({ dataDir })
    expect([second.genesis, second.height(), second.solidHeight()]).toEqual([first.genesis, 5, 2])
    expect(await request(second, 'wallet/getblockbynum', { num: 1 })).toEqual(block)
    second.mine()
    expect(await request(second, 'wallet/gettransactionbyid', { value: txHash })).toMatchObject({ txID: txHash })
  })

  it('loses nothing that was mined with a transaction when it is killed', async () => {
    const dataDir = join(folder, 'killed')
    const first = await start({ dataDir })
    const { txHash } = await first.pay({ asset: 'usdt_tron', to: BOB, amountBase: 5n })
    first.mine()
    const second = await start({ dataDir })
    expect(await request(second, 'wallet/gettransactionbyid', { value: txHash })).toMatchObject({ txID: txHash })
  })

  it('starts again when its state is unreadable, and says so', async () => {
    const dataDir = mkdtempSync(join(folder, 'torn-'))
    writeFileSync(join(dataDir, 'state.json'), '{"blocks":')
    const lines: string[] = []
    const node = await start({ dataDir, report: (line) => lines.push(line) })
    expect(node.height()).toBe(0)
    expect(lines.join()).toMatch(/starts again/)
    expect(readFileSync(join(dataDir, 'state.json.unusable'), 'utf8')).toBe('{"blocks":')
  })
})
