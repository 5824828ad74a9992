import { describe, expect, it } from 'vitest'
import { MODES, NETWORK_IDS } from '#shared/domain/enumerations.ts'
import { createCatalog } from './catalog.ts'
import { createChainClient } from './create-chain-client.ts'
import { chooseScan } from './scan-choice.ts'

const chosen = (...rpcUrls: readonly string[]) => chooseScan('ethereum', { rpcUrls }).source

describe('without a setting', () => {
  it.each([
    'http://127.0.0.1:8545',
    'http://127.1:8545',
    'http://2130706433',
    'http://0x7f000001',
    'http://0.0.0.0:8545',
    'http://localhost:8545',
    'http://LOCALHOST.:8545',
    'http://geth.localhost',
    'http://10.1.2.3',
    'http://172.31.255.255:8545',
    'http://192.168.0.1',
    'http://169.254.10.1',
    'http://100.101.102.103:8545',
    'http://[::1]:8545',
    'http://[::]:8545',
    'http://[fd12:3456::1]:8545',
    'http://[fe80::1]:8545',
    'http://[::ffff:10.0.0.1]:8545',
    'http://user:secret@geth:8545/path?key=1',
    'http://geth',
    'http://host.docker.internal:8545',
    'http://geth.nodes.svc.cluster.local:8545',
    'http://geth.nodes.svc:8545',
    'http://geth.local',
    'http://geth.home.arpa',
    'http://geth.lan.',
  ])('a node at %s is an own one, and every block is read', (url) => {
    expect(chosen(url)).toBe('full')
  })

  it.each([
    'https://eth-mainnet.g.alchemy.com/v2/key',
    'https://key@rpc.example.com',
    'http://localhost@rpc.example.com',
    'https://127.0.0.1:8545@rpc.example.com',
    'https://localhost.example.com',
    'https://geth.local.example.com',
    'https://127.0.0.1.nip.io',
    'https://mylocal.com',
    'https://internal.dev',
    'http://8.8.8.8:8545',
    'http://172.32.0.1',
    'http://100.128.0.1',
    'http://[2606:4700::1111]:8545',
    'http://[::ffff:8.8.8.8]:8545',
    'http://[64:ff9b::a00:1]:8545',
    'https://rpc.example.com#localhost',
    'https://rpc.example.com/127.0.0.1?host=localhost',
  ])('a node at %s is a hosted one, and only what open invoices need is read', (url) => {
    expect(chosen(url)).toBe('thrifty')
  })

  // Guarantee: a free plan is not used up by the background questions, or the place, of an own node that failed.
  it('one hosted node among own ones decides, wherever it stands', () => {
    const [own, hosted] = ['http://geth:8545', 'https://rpc.example.com']
    expect([chosen(own, hosted), chosen(hosted, own), chosen(own, own)]).toEqual(['thrifty', 'thrifty', 'full'])
  })

  it('calls that count against a quota are not an own node’s', () => {
    const choose = (quota: { unit: 'calls' | 'alchemy'; hosts?: string[] }) =>
      chooseScan('ethereum', { rpcUrls: ['http://proxy:8545'], quota: { perMonth: 1_000, ...quota } }).source
    expect(choose({ unit: 'alchemy', hosts: ['proxy:8545'] })).toBe('thrifty')
    expect(choose({ unit: 'calls' })).toBe('thrifty')
    expect(choose({ unit: 'calls', hosts: ['other:8545'] })).toBe('full')
  })

  it('networks that can only be read in full are, wherever their nodes stand', () => {
    for (const network of ['bitcoin', 'litecoin', 'dogecoin', 'tron', 'solana'] as const) {
      expect(chooseScan(network, { rpcUrls: ['https://key@api.example.com'] })).toMatchObject({ source: 'full' })
    }
  })
})

it('a setting decides against every default', () => {
  expect(chooseScan('base', { rpcUrls: ['https://rpc.example.com'], source: 'full' }).source).toBe('full')
  expect(chooseScan('base', { rpcUrls: ['http://geth:8545'], source: 'thrifty' }).source).toBe('thrifty')
  expect(chooseScan('base', { rpcUrls: ['https://rpc.example.com'], source: null }).source).toBe('thrifty')
})

// Guarantee: a scanner is never told by default to read in a way that its client cannot.
it.each(NETWORK_IDS)('the client of %s reads balances exactly where a hosted node means thrifty', async (network) => {
  const node = { rpcUrls: ['https://rpc.example.com'] }
  const metrics = { count: () => {}, gauge: () => {}, observe: () => {} }
  for (const mode of MODES) {
    const networks = { live: {}, test: {}, [mode]: { [network]: node } }
    const client = createChainClient(networks, mode, network, metrics)
    const isThrifty = createCatalog(networks).scanChoice(network, mode)?.source === 'thrifty'
    expect(client?.accounts !== undefined).toBe(isThrifty)
    await client?.close()
  }
})

it('the reason names who serves the nodes, and nothing else of their URLs', () => {
  const why = (...rpcUrls: string[]) => chooseScan('ethereum', { rpcUrls }).why
  expect(why('http://geth:8545/secret', 'http://user:secret@erigon')).toBe(
    'The default, because all nodes are your own (geth:8545, erigon). The setting "source":"thrifty" changes it.',
  )
  expect(why('https://my-account.quiknode.pro/secret')).toBe(
    'The default, because quicknode is a hosted node. The setting "source":"full" changes it.',
  )
})

it('a network without a node, or whose URLs this process does not hold, has no choice', () => {
  const catalog = createCatalog({ live: {}, test: { base: { rpcUrls: [] } } })
  expect([catalog.scanChoice('base', 'live'), catalog.scanChoice('base', 'test')]).toEqual([null, null])
})
