import { randomBytes } from 'node:crypto'
import { Block } from 'bitcoinjs-lib'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type LitecoinNode, startLitecoinNode } from '#dev/local-chain/litecoin-node.ts'
import { createCoreCall } from '#dev/local-chain/node-rpc.ts'
import { createChainClient, type OpenChainClient } from '#shared/chains/create-chain-client.ts'
import { createWatchIndex } from '#shared/chains/families/watch-index.ts'
import type { NetworkId } from '#shared/domain/enumerations.ts'
import type { Metrics } from '#shared/ports/runtime.ts'
import type { RawTransfer } from '#shared/ports/scanned-blocks.ts'
import { NodeUnreliable } from '#shared/ports/scanning.ts'

const silent: Metrics = { count: () => {}, gauge: () => {}, observe: () => {} }
const NOBODY: ReadonlySet<string> = new Set()

let node: LitecoinNode
beforeAll(async () => {
  node = await startLitecoinNode({ blockTimeMs: null })
})
afterAll(() => node.stop())

const opened: OpenChainClient[] = []
afterEach(async () => {
  for (const client of opened.splice(0)) await client.close()
})

type Client = OpenChainClient & Required<Pick<OpenChainClient, 'mempool'>>

function clientOf(network: NetworkId, genesis: string | null = 'any', url = node.url): Client {
  const client = createChainClient(
    { live: {}, test: { [network]: { rpcUrls: [url], genesis } } },
    'test',
    network,
    silent,
  )
  if (client?.mempool === undefined) throw new Error('no client that sees the mempool')
  opened.push(client)
  return { ...client, mempool: client.mempool }
}

/** An output script of nobody's, watched. */
function watched(network: NetworkId) {
  const hash = randomBytes(20).toString('hex')
  const script = network === 'dogecoin' ? `76a914${hash}88ac` : `0014${hash}`
  const watches = createWatchIndex()
  watches.add(script)
  return { script, watches }
}

const tip = async () => (await node.rpc('getblockcount')) as number
const elsewhere = () => `0014${randomBytes(20).toString('hex')}`
const keysOf = (transfers: readonly RawTransfer[]) => transfers.map(({ key }) => key)

describe.each(['bitcoin', 'litecoin', 'dogecoin'] as const)('%s', (network) => {
  it('is found in the mempool and then in its block, under one key', async () => {
    const client = clientOf(network)
    const { script, watches } = watched(network)
    await client.verify()
    const txid = await node.pay([{ to: script, amountBase: 123_456_789n }])
    const view = await client.mempool(watches, NOBODY)
    const expected = {
      matchKey: script,
      fromAddress: null,
      amountBase: 123_456_789n,
      txHash: txid,
      spends: [expect.stringMatching(/^[0-9a-f]{64}:\d+$/)],
    }
    expect(view.txids.has(txid)).toBe(true)
    expect(view.transfers).toEqual([expect.objectContaining(expected)])
    expect(view.transfers[0]?.toAddress).toMatch({ bitcoin: /^tb1q/, litecoin: /^tltc1q/, dogecoin: /^n/ }[network])
    expect(view.transfers[0]?.key).toBe(`test:${network}:${txid}:${view.transfers[0]?.outputIndex}`)

    const [hash] = await node.mine()
    const height = await tip()
    expect(await client.head()).toEqual({ height, hash, finalizedHeight: null })
    const [block] = await client.scan(height, height, watches, new Set(view.transfers[0]?.spends))
    expect(block?.transfers).toEqual(view.transfers)
    expect([...(block?.spent ?? [])]).toEqual([[view.transfers[0]?.spends?.[0], txid]])
    expect(await client.blockAt(height)).toEqual({
      height,
      hash,
      parentHash: await node.rpc('getblockhash', [height - 1]),
      time: block?.time,
    })
    expect((await client.mempool(watches, NOBODY)).transfers).toEqual([])
  })

  it('counts two outputs of one transaction, to one script or to two', async () => {
    const client = clientOf(network)
    const { script, watches } = watched(network)
    const { script: other } = watched(network)
    watches.add(other)
    const outputs = [script, script, other].map((to, index) => ({ to, amountBase: BigInt(index + 1) * 1_000_000n }))
    await node.pay(outputs)
    await node.mine()
    const height = await tip()
    const [block] = await client.scan(height, height, watches)
    const amounts = block?.transfers.map(({ matchKey, amountBase }) => `${matchKey} ${amountBase}`)
    expect(amounts?.sort()).toEqual(outputs.map(({ to, amountBase }) => `${to} ${amountBase}`).sort())
    expect(new Set(keysOf(block?.transfers ?? [])).size).toBe(3)
  })

  // Guarantee: a payment that its payer replaced is known as such, in the mempool and in the block.
  it('shows who replaced a payment', async () => {
    const client = clientOf(network)
    const { script, watches } = watched(network)
    const txid = await node.pay([{ to: script, amountBase: 5_000_000n }])
    const [transfer] = (await client.mempool(watches, NOBODY)).transfers
    const outpoints = new Set(transfer?.spends)
    const replacement = await node.replace(txid, [{ to: elsewhere(), amountBase: 5_000_000n }])
    const view = await client.mempool(watches, outpoints)
    expect(view.transfers).toEqual([])
    expect(view.txids.has(txid)).toBe(false)
    expect([...view.spent]).toEqual([...outpoints].map((outpoint) => [outpoint, replacement]))
    await node.mine()
    const height = await tip()
    const [block] = await client.scan(height, height, watches, outpoints)
    expect(block).toMatchObject({ transfers: [], spent: new Map([...outpoints].map((one) => [one, replacement])) })
  })

  it('shows a payment again when its block is taken back, and under the same key in the next one', async () => {
    const client = clientOf(network)
    const { script, watches } = watched(network)
    await node.pay([{ to: script, amountBase: 5_000_000n }])
    await node.mine()
    const height = await tip()
    const [first] = await client.scan(height, height, watches)
    await node.invalidate(1)
    expect(await client.blockAt(height)).toBeNull()
    await expect(client.scan(height, height, watches)).rejects.toBeInstanceOf(NodeUnreliable)
    expect((await client.mempool(watches, NOBODY)).transfers).toEqual(first?.transfers)
    await node.mine(2, elsewhere())
    const again = await client.scan(height, height + 1, watches)
    expect(again[0]?.hash).not.toBe(first?.hash)
    expect(again[0]?.parentHash).toBe(first?.parentHash)
    expect(again.flatMap(({ transfers }) => transfers)).toEqual(first?.transfers)
  })

  it('finds that a mined conflict took the place of a payment whose block was taken back', async () => {
    const client = clientOf(network)
    const { script, watches } = watched(network)
    const txid = await node.pay([{ to: script, amountBase: 5_000_000n }])
    await node.mine()
    const height = await tip()
    const [transfer] = (await client.scan(height, height, watches))[0]?.transfers ?? []
    const outpoints = new Set(transfer?.spends)
    await node.invalidate(1)
    const conflict = await node.replace(txid, [{ to: elsewhere(), amountBase: 5_000_000n }])
    await node.mine(2)
    const [block] = await client.scan(height, height, watches, outpoints)
    expect(block?.transfers).toEqual([])
    expect([...(block?.spent?.values() ?? [])]).toEqual([conflict])
  })

  it('lets a reward of a miner wait', async () => {
    const client = clientOf(network)
    const { script, watches } = watched(network)
    await node.mine(1, script)
    const height = await tip()
    const [block] = await client.scan(height, height, watches)
    expect(block?.transfers.map(({ minConfirmations }) => minConfirmations)).toEqual([
      network === 'dogecoin' ? 240 : 100,
    ])
  })
})

describe('a node of another chain', () => {
  // Guarantee: coins of a development chain never count as those of a public network.
  it('is refused unless the settings accept it', async () => {
    const ours = String(await node.rpc('getblockhash', [0]))
    const mismatch = expect.objectContaining({ name: 'NodeMismatch' })
    for (const network of ['bitcoin', 'litecoin', 'dogecoin'] as const) {
      await expect(clientOf(network, null).verify()).rejects.toEqual(mismatch)
      await expect(clientOf(network, null).head()).rejects.toEqual(mismatch)
      await clientOf(network, ours).verify()
      await expect(clientOf(network, '1'.repeat(64)).verify()).rejects.toEqual(mismatch)
    }
    expect(await clientOf('bitcoin').genesisHash()).toBe(ours)
  })

  it('and a node with another password are never named with the one of the URL', async () => {
    const url = node.url.replace(/:[0-9a-f]{32}@/, ':s3cret@')
    const error = await clientOf('bitcoin', 'any', url)
      .head()
      .catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ name: 'NodeUnreliable' })
    expect(JSON.stringify([String(error), error])).not.toContain('s3cret')
  })
})

it('a height above the head is no block', async () => {
  expect(await clientOf('bitcoin').blockAt(1_000_000)).toBeNull()
})

it('every block of a node is read as bitcoinjs-lib reads it', async () => {
  const everything = { has: (script: string) => script !== '', add: () => {}, size: 1, keys: () => [] }
  const call = createCoreCall(node.url)
  const blocks = await clientOf('bitcoin').scan(0, await tip(), everything)
  for (const { height, hash, parentHash, transfers } of blocks) {
    const truth = Block.fromHex((await call('getblock', [hash, 0])) as string)
    expect([hash, parentHash]).toEqual([
      truth.getId(),
      Buffer.from(truth.prevHash ?? [])
        .reverse()
        .toString('hex'),
    ])
    const outputs = (truth.transactions ?? []).flatMap((made) =>
      made.outs.flatMap(({ script, value }, index) =>
        value === 0n || script.length > 42 ? [] : [`test:bitcoin:${made.getId()}:${index} ${value}`],
      ),
    )
    expect(
      transfers.map(({ key, amountBase }) => `${key} ${amountBase}`),
      `block ${height}`,
    ).toEqual(outputs)
  }
})
