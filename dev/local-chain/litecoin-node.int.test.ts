import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { deepTest } from '#test/support/depth.ts'
import { type LitecoinNode, MWEB_HEIGHT, startLitecoinNode, WITHOUT_MWEB } from './litecoin-node.ts'

const SCRIPT = `0014${'77'.repeat(20)}`

const opened: LitecoinNode[] = []
afterEach(async () => {
  vi.unstubAllEnvs()
  for (const node of opened.splice(0)) await node.stop()
})

async function start(options: Parameters<typeof startLitecoinNode>[0]): Promise<LitecoinNode> {
  const node = await startLitecoinNode(options)
  opened.push(node)
  return node
}
const heightOf = async (node: LitecoinNode) => (await node.rpc('getblockcount')) as number

describe('a Litecoin node for development', () => {
  deepTest('keeps its chain and its coins over a restart, and mines by itself', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'litecoin-test-'))
    const first = await start({ dataDir, blockTimeMs: null })
    const txid = await first.pay([{ to: SCRIPT, amountBase: 100_000_000_000n }])
    await first.mine()
    const height = await heightOf(first)
    await opened.splice(0)[0]?.stop()

    const second = await start({ dataDir, blockTimeMs: 20 })
    expect(second.url).not.toBe(first.url)
    expect(await second.rpc('gettxout', [txid, 0])).not.toBe(await second.rpc('gettxout', [txid, 1]))
    await second.pay([{ to: SCRIPT, amountBase: 5_000n }])
    await vi.waitFor(async () => expect(await heightOf(second)).toBeGreaterThan(height + 2), 60_000)
    await vi.waitFor(async () => expect(await second.rpc('getrawmempool')).toEqual([]), 60_000)
    await opened.splice(0)[0]?.stop()
    rmSync(dataDir, { recursive: true })
  })

  deepTest('mines on beyond the height at which the extension block begins', async () => {
    const node = await start({ blockTimeMs: null, flags: WITHOUT_MWEB })
    await node.mineTo(MWEB_HEIGHT + 1)
    expect(await heightOf(node)).toBe(MWEB_HEIGHT + 1)
  })

  deepTest('takes blocks back and lets them count again', async () => {
    const node = await start({ blockTimeMs: null })
    const [hash] = await node.mine(2)
    const height = await heightOf(node)
    expect(await node.invalidate(2)).toBe(hash)
    expect(await heightOf(node)).toBe(height - 2)
    await node.reconsider(String(hash))
    expect(await heightOf(node)).toBe(height)
  })

  it('says what to install where there is none', async () => {
    vi.stubEnv('LITECOIND_BINARY', '/nowhere/litecoind')
    await expect(startLitecoinNode()).rejects.toThrow(/apt install litecoind.*LITECOIND_BINARY/)
  })
})
