import { describe, expect, it } from 'vitest'
import { createChainClient } from '#shared/chains/create-chain-client.ts'
import { ASSETS } from '#shared/chains/definitions/assets.ts'
import {
  ADDRESS,
  type Answer,
  EXPECTED,
  mismatch,
  silent,
  summary,
  type Truth,
  unreliable,
  useTronNodes,
  watches,
  when,
} from '#test/support/tron-nodes.ts'
import type { TronClientOptions } from './client.ts'

const { at, opened, client, liar } = useTronNodes()

describe('an honest node', () => {
  // Guarantee: what failed, was rejected or only looks like money credits nothing; everything else is found exactly.
  it('is verified, and its transfers to us are found', async () => {
    const reader = client([at.node.url])
    await reader.verify()
    expect(await summary(reader)).toEqual(EXPECTED)
    expect(await reader.head()).toMatchObject({ height: 5, finalizedHeight: 3 })
    expect(await reader.blockAt(5)).toMatchObject({ hash: (await reader.head()).hash, height: 5 })
    expect(await reader.blockAt(0)).toMatchObject({ hash: await reader.genesisHash(), time: 0 })
    expect(await reader.blockAt(99)).toBeNull()
  })

  it('is wired by its rows alone', async () => {
    const settings = { rpcUrls: [`${at.node.url}/`], genesis: at.node.genesis }
    const reader = createChainClient({ live: {}, test: { tron: settings } }, 'test', 'tron', silent)
    if (reader === null) throw new Error('no client')
    opened.push(reader)
    await reader.verify()
    const [block] = await reader.scan(2, 2, watches)
    expect(block?.transfers.map(({ key }) => key)).toEqual([
      expect.stringMatching(/^test:tron:[0-9a-f]{64}:c0$/),
      expect.stringMatching(/^test:tron:[0-9a-f]{64}:l0$/),
    ])
  })

  it('gets an API key or the credentials of a proxy from the user info of its URL', async () => {
    const seen: Truth['headers'][] = []
    const url = await liar(({ headers }) => void seen.push(headers))
    await client([url.replace('//', '//my%2Dkey@')]).genesisHash()
    await client([url.replace('//', '//name:word@')]).genesisHash()
    expect(seen[0]).toMatchObject({ 'tron-pro-api-key': 'my-key' })
    expect(seen.at(-1)).toMatchObject({ authorization: `Basic ${Buffer.from('name:word').toString('base64')}` })
  })
})

// Guarantee: nobody reads that a payer sent nothing because one node lacks the transaction while another one fails.
it('a transaction that one node lacks is looked up at the others, and is unknown while one of them fails', async () => {
  const [block] = await client([at.node.url]).scan(2, 2, watches)
  const txHash = block?.transfers[0]?.txHash ?? ''
  const forgetful = await liar(when('/gettransactioninfobyid', () => ({})))
  expect(await client([forgetful]).locate?.(txHash)).toBeNull()
  expect(await client([forgetful, at.node.url]).locate?.(txHash)).toMatchObject({ height: 2 })
  await expect(client([forgetful, await liar(() => 'busy')]).locate?.(txHash)).rejects.toEqual(unreliable)
})

describe('what a scan asks', () => {
  it('is one answer of infos a block, one of blocks for five of them, and nothing twice', async () => {
    const requests: string[] = []
    const reader = client([await liar(({ path }) => void requests.push(path.slice(path.lastIndexOf('/') + 1)))])
    await reader.head()
    requests.length = 0
    await reader.scan(1, 5, watches)
    expect(requests.sort()).toEqual([
      'getblockbylimitnext',
      ...Array.from({ length: 5 }, () => 'gettransactioninfobyblocknum'),
    ])
    requests.length = 0
    await reader.scan(5, 5, watches)
    expect(requests).toEqual(['gettransactioninfobyblocknum'])
  })
})

describe('a node that fails', () => {
  it('is left for the next one', async () => {
    const reader = client([await liar(() => 'busy'), at.node.url])
    expect((await reader.head()).height).toBe(5)
    expect(await summary(reader)).toEqual(EXPECTED)
  })

  // Guarantee: a provider that asks for peace gets it, and does not suspend us for longer.
  it('because it was asked too often is left alone for as long as it says', async () => {
    let requests = 0
    const url = await liar(() => {
      requests += 1
      return { Error: 'The key exceeds the frequency limit(15), and the query server is suspended for 30s' }
    }, 403)
    const reader = client([url])
    await expect(reader.head()).rejects.toEqual(unreliable)
    await expect(reader.head()).rejects.toThrow('every node asked for a pause')
    expect(requests).toBe(1)
    expect(await summary(client([url, at.node.url]))).toEqual(EXPECTED)
  })

  // Guarantee: work that would go on in another way asks it for nothing more either.
  it('in the middle of a question is asked nothing more', async () => {
    const requests: string[] = []
    const words = { Error: 'The key exceeds the frequency limit(15), and the query server is suspended for 30s' }
    const url = await liar(({ path }) => {
      requests.push(path.slice(path.lastIndexOf('/') + 1))
      return path.endsWith('/gettransactioninfobyblocknum') ? words : undefined
    })
    const reader = client([at.node.url, url])
    const [block] = await reader.scan(2, 2, watches)
    const { transfers = [], height = 0, hash = '' } = block ?? {}
    const seen = transfers.map(({ txHash }) => ({ txHash, height, blockHash: hash }))
    requests.length = 0
    await expect(reader.disputed?.(seen)).rejects.toThrow('suspended for 30s')
    expect(requests.at(-1)).toBe('gettransactioninfobyblocknum')
  })

  // Guarantee: operators read why a provider refuses, in its own words, also while it is left alone.
  it.each([
    [
      'a spent key',
      403,
      { success: false, error: 'The total number of requests of the API key today exceeds the limit' },
      /API key today/,
    ],
    ['a plan', 402, { error: 'Upgrade your plan to use this method' }, /Upgrade your plan/],
    ['a size', 413, 'request entity too large', /entity too large/],
    ['a suspension', 503, { Error: 'exceeds the frequency limit(15), suspended for 30s' }, /frequency limit/],
    ['a key in a good status', 200, { error: 'invalid api key' }, /invalid api key/],
    [
      'a pruned block',
      200,
      { Error: 'class java.lang.Exception : block not found in lite full node' },
      /lite full node/,
    ],
    ['words alone', 200, 'Monthly quota used up', /Monthly quota used up/],
  ])('because of %s says so (status %i)', async (_what, status, answer, said) => {
    const reader = client([await liar(() => answer, status)])
    for (const _try of [1, 2]) await expect(reader.head()).rejects.toThrow(said)
  })

  it('by its status is not believed, whatever it says', async () => {
    await expect(client([await liar(() => undefined, 503)]).head()).rejects.toEqual(unreliable)
  })

  it('is never named with the secrets of its URL', async () => {
    const error = await client(['http://s3cret@127.0.0.1:1/s3cret?key=s3cret'])
      .head()
      .catch((thrown: unknown) => thrown)
    expect(error).toEqual(unreliable)
    expect(JSON.stringify([String(error), error])).not.toContain('s3cret')
  })
})

describe('a node on another chain', () => {
  // Guarantee: money on another chain is never taken for money on ours.
  it.each<[string, Partial<TronClientOptions>]>([
    ['is refused as another test chain', { genesis: 'ab'.repeat(32) }],
    ['is refused as Nile', { genesis: null }],
    ['is refused as the main network', { mode: 'live', genesis: null }],
  ])('%s', async (_what, change) => {
    await expect(client([at.node.url], change).verify()).rejects.toEqual(mismatch)
    await expect(client([at.node.url], change).head()).rejects.toEqual(mismatch)
  })

  it.each([
    ['live', '00000000000000001ebf88508a03865c71d452e25f4d51194196a1d22b6653dc'],
    ['test', '0000000000000000d698d4192c56cb6be724a558448e2684802de4d6cd8690dc'],
  ] as const)('is taken in %s mode when its first block is the right one', async (mode, blockID) => {
    const url = await liar(({ params, json }) => (params['num'] === 0 ? { ...(json as Answer), blockID } : undefined))
    expect(await client([url], { mode, genesis: null }).genesisHash()).toBe(blockID)
  })

  it('is refused when a token has other decimals, or is none on the main network', async () => {
    const token = { asset: 'usdt_tron', contract: ASSETS.usdt_tron.contract } as const
    await expect(client([at.node.url], { tokens: [{ ...token, decimals: 18 }] }).verify()).rejects.toEqual(mismatch)
    const nowhere = { ...token, contract: ADDRESS, decimals: 6 }
    await expect(client([at.node.url], { tokens: [nowhere], mode: 'live' }).verify()).rejects.toEqual(mismatch)
    expect(await client([at.node.url], { tokens: [nowhere] }).verify()).toEqual(['usdt_tron'])
  })

  it('is not refused for a call that it could not make', async () => {
    const url = await liar(when('/triggerconstantcontract', () => ({ result: { code: 'SERVER_BUSY' } })))
    await expect(client([url]).verify()).rejects.toEqual(unreliable)
    // java-tron without `vm.supportConstant` refuses every call with the code of a contract that is not there.
    const constant = { code: 'CONTRACT_VALIDATE_ERROR', message: '' }
    const silent = await liar(when('/triggerconstantcontract', () => ({ result: constant })))
    await expect(client([silent]).verify()).rejects.toEqual(unreliable)
  })
})
