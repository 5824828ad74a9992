import { expect, it, onTestFinished, vi } from 'vitest'
import { startTronNode } from '#dev/local-chain/tron-node/start-tron-node.ts'
import { SILENT, useEvmStage } from '#test/support/evm-stage.ts'
import type { Lie } from '#test/support/lying-node.ts'
import { HONEST, startWorldNode } from '#test/support/world-node.ts'
import { createNodeCheck } from './check-nodes.ts'

const CHAINSTACK = {
  status: 403,
  error: { code: -32_002, message: 'Archive, Debug and Trace requests are not available on your current plan.' },
}
const stage = useEvmStage((chain) => chain.mine(70))

const checkOf = (rpcUrls: readonly string[]) =>
  createNodeCheck({ live: {}, test: { ethereum: { rpcUrls, chainId: 31_337 } } }, SILENT)

async function lackingAt(lie: Lie) {
  const probes = await checkOf([await stage.liar(lie)]).probe('test', 'ethereum')
  return probes.flatMap(({ shortcomings }) => shortcomings)
}
const isOfState = (block: unknown) => typeof block === 'object'

it('finds nothing to say about a node that serves everything', async () => {
  expect(await lackingAt((_, truth) => truth)).toEqual([])
})

// Guarantee: a plan that cannot do the work is named at readiness, with the provider's own words, and not when the first payment is missed.
it.each<[need: string, Lie]>([
  [
    'balances of a day ago',
    ({ method, params }, truth) => (method === 'eth_call' && isOfState(params[1]) ? CHAINSTACK : truth),
  ],
  [
    'the header of a block of ten minutes ago',
    ({ method, params }, truth) =>
      method === 'eth_getBlockByNumber' && params[0] === '0x14' && params[1] === false ? CHAINSTACK : truth,
  ],
  [
    'the contents of a block of ten minutes ago',
    ({ method, params }, truth) => (method === 'eth_getBlockByNumber' && params[1] === true ? { result: null } : truth),
  ],
  ['logs of tokens', ({ method }, truth) => (method === 'eth_getLogs' ? CHAINSTACK : truth)],
  [
    'balances of many addresses in one request',
    ({ method, params }, truth) =>
      method === 'eth_call' && (params[0] as { to?: string }).to === undefined ? CHAINSTACK : truth,
  ],
  ['the finalized block', ({ params }, truth) => (params[0] === 'finalized' ? CHAINSTACK : truth)],
])('names a plan that does not serve %s', async (need, lie) => {
  const lacking = await lackingAt(lie)
  expect(lacking.map((one) => one.need)).toContain(need)
  const words = lacking.find((one) => one.need === need)?.words
  if (!need.startsWith('the contents')) expect(words).toMatch(/Archive, Debug|has no balances/)
})

// Guarantee: a node that answers about its newest block whatever block is named does not pass for one that remembers.
it('names a plan that answers with newest balances where older ones are requested', async () => {
  const node = await startWorldNode(stage.chain.url, { ...HONEST, ignoresHashes: true, stateBlocks: 30 })
  stage.keep(node)
  const lacking = async () => {
    const probes = await checkOf([node.url]).probe('test', 'ethereum')
    return probes.flatMap(({ shortcomings }) => shortcomings.map(({ need }) => need))
  }
  expect(await lacking()).toEqual(['balances of a day ago'])
  node.become({ ...HONEST, ignoresHashes: true })
  expect(await lacking()).toEqual([])
})

it('takes a limit of the range for none', async () => {
  const narrow: Lie = ({ method, params }, truth) => {
    const { fromBlock, toBlock } = (params[0] ?? {}) as { fromBlock?: string; toBlock?: string }
    return method === 'eth_getLogs' && fromBlock !== toBlock ? CHAINSTACK : truth
  }
  expect(await lackingAt(narrow)).toEqual([])
})

it('says that a dead node refused the connection', async () => {
  const check = checkOf(['http://127.0.0.1:9/key-of-mine'])
  const [state] = await check.look('test', 'ethereum')
  expect(state).toMatchObject({ height: null, fault: expect.stringContaining('refused the connection') })
  expect(JSON.stringify(state)).not.toContain('key-of-mine')
  const lacking = { need: 'its newest block', words: expect.stringContaining('refused the connection') }
  expect(await check.probe('test', 'ethereum')).toMatchObject([{ host: '127.0.0.1:9', shortcomings: [lacking] }])
})

// Guarantee: a first start waits for a node that still reads its chain, also where its answers do not say so.
it('names a live node whose newest block is older than a day, and opens no scan of it', async () => {
  const node = await startTronNode({ blockTimeMs: null })
  onTestFinished(() => node.stop())
  node.mine(3)
  const networks = { live: { tron: { rpcUrls: [node.url], genesis: node.genesis } }, test: {} }
  const look = async () => (await createNodeCheck(networks, SILENT).look('live', 'tron'))[0]
  expect(await look()).toMatchObject({ height: 3, fault: null })
  const tomorrow = Date.now() + 90_000_000
  onTestFinished(() => void vi.restoreAllMocks())
  vi.spyOn(Date, 'now').mockReturnValue(tomorrow)
  expect(await look()).toMatchObject({ height: 3, fault: expect.stringContaining('its newest block, 3, is from') })
})
