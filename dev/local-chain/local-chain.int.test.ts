import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Interface } from 'ethers'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { ASSETS } from '#shared/chains/definitions/assets.ts'
import { DEVELOPMENT_PAYER } from './pay.ts'
import { type LocalChain, type LocalChainOptions, startLocalChain } from './start-local-chain.ts'

const erc20 = new Interface([
  'function balanceOf(address) view returns (uint256)',
  'function allowance(address,address) view returns (uint256)',
  'function totalSupply() view returns (uint256)',
  'function decimals() view returns (uint8)',
  'function symbol() view returns (string)',
  'function transfer(address,uint256) returns (bool)',
  'function transferFrom(address,address,uint256) returns (bool)',
  'function approve(address,uint256) returns (bool)',
  'function mint(address,uint256) returns (bool)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
])
const USDT = ASSETS.usdt_ethereum.contract
const ALICE = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const BOB = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'

const folder = mkdtempSync(join(tmpdir(), 'paymesh-chain-'))
const running: LocalChain[] = []
const start = async (options: LocalChainOptions = {}): Promise<LocalChain> => {
  const chain = await startLocalChain({ blockTimeMs: null, ...options })
  running.push(chain)
  return chain
}
afterEach(async () => {
  for (const chain of running.splice(0)) await chain.stop()
})
afterAll(() => rmSync(folder, { recursive: true }))

const read = async (chain: LocalChain, method: string, args: readonly unknown[] = []): Promise<unknown> => {
  const data = (await chain.rpc('eth_call', [
    { to: USDT, data: erc20.encodeFunctionData(method, args) },
    'latest',
  ])) as string
  return erc20.decodeFunctionResult(method, data)[0]
}
const write = async (chain: LocalChain, from: string, method: string, args: readonly unknown[]) => {
  const data = erc20.encodeFunctionData(method, args)
  const hash = await chain.rpc('eth_sendTransaction', [{ from, to: USDT, data, gas: '0x30d40' }])
  await chain.mine()
  return (await chain.rpc('eth_getTransactionReceipt', [hash])) as {
    status: string
    logs: { topics: string[]; data: string }[]
  }
}

describe('the test token', () => {
  it('behaves like an EIP-20 token', async () => {
    const chain = await start()
    expect(await read(chain, 'decimals')).toBe(6n)
    expect(await read(chain, 'symbol')).toBe('USDT')
    await write(chain, ALICE, 'mint', [ALICE, 100n])
    const { status, logs } = await write(chain, ALICE, 'transfer', [BOB, 30n])
    expect(status).toBe('0x1')
    expect(logs.map((log) => erc20.parseLog(log)?.args.toArray())).toEqual([[ALICE, BOB, 30n]])
    expect([await read(chain, 'balanceOf', [ALICE]), await read(chain, 'balanceOf', [BOB])]).toEqual([70n, 30n])
    expect(await read(chain, 'totalSupply')).toBe(100n)

    expect((await write(chain, BOB, 'transfer', [ALICE, 31n])).status).toBe('0x0')
    expect((await write(chain, BOB, 'transferFrom', [ALICE, BOB, 1n])).status).toBe('0x0')
    await write(chain, ALICE, 'approve', [BOB, 50n])
    expect((await write(chain, BOB, 'transferFrom', [ALICE, BOB, 20n])).status).toBe('0x1')
    expect(await read(chain, 'allowance', [ALICE, BOB])).toBe(30n)
    expect((await write(chain, BOB, 'transferFrom', [ALICE, BOB, 31n])).status).toBe('0x0')
    expect([await read(chain, 'balanceOf', [ALICE]), await read(chain, 'balanceOf', [BOB])]).toEqual([50n, 50n])
  })
})

describe('the local chain', () => {
  it('pays tokens and coins from the development payer', async () => {
    const chain = await start()
    const { txHash } = await chain.pay({ asset: 'usdt_ethereum', to: BOB, amountBase: 1_500_000n })
    await chain.pay({ asset: 'eth_ethereum', to: ALICE, amountBase: 7n })
    await chain.mine()
    expect(await chain.rpc('eth_getTransactionReceipt', [txHash])).toMatchObject({ status: '0x1' })
    expect(await read(chain, 'balanceOf', [BOB])).toBe(1_500_000n)
    expect(await read(chain, 'balanceOf', [DEVELOPMENT_PAYER])).toBe(0n)
  })

  it('keeps its blocks over a stop, and loses only what was not dumped when it is killed', async () => {
    const dataDir = join(folder, 'kept')
    const first = await start({ dataDir })
    await first.pay({ asset: 'usdt_ethereum', to: BOB, amountBase: 5n })
    await first.mine(3)
    const block = await first.rpc('eth_getBlockByNumber', ['0x2', false])
    await first.stop()
    const second = await start({ dataDir })
    expect(await second.rpc('eth_getBlockByNumber', ['0x2', false])).toEqual(block)
    process.kill(second.pid, 'SIGKILL')
    const third = await start({ dataDir })
    expect(await third.rpc('eth_getBlockByNumber', ['0x2', false])).toEqual(block)
    expect(await read(third, 'balanceOf', [BOB])).toBe(5n)
  })

  it('keeps its first block, whatever other ones its earlier starts left in the state', async () => {
    const dataDir = join(folder, 'many-starts')
    const path = join(dataDir, 'state.json')
    const first = await start({ dataDir })
    await first.mine(2)
    const genesis = await first.rpc('eth_getBlockByNumber', ['0x0', false])
    await first.stop()
    const state = JSON.parse(readFileSync(path, 'utf8'))
    const block = state.blocks.find(({ header }: { header: { number: string } }) => Number(header.number) === 0)
    const later = Array.from({ length: 30 }, (_, index) => {
      const timestamp = `0x${(Number(block.header.timestamp) + 1 + index).toString(16)}`
      return { ...block, header: { ...block.header, timestamp } }
    })
    writeFileSync(
      path,
      JSON.stringify({ ...state, blocks: [...later.slice(15), ...state.blocks, ...later.slice(0, 15)] }),
    )
    const second = await start({ dataDir })
    expect(await second.rpc('eth_getBlockByNumber', ['0x0', false])).toEqual(genesis)
  })

  it('starts again when its state is unreadable, and says so', async () => {
    const dataDir = mkdtempSync(join(folder, 'torn-'))
    writeFileSync(join(dataDir, 'state.json'), '{"block":')
    const lines: string[] = []
    const chain = await start({ dataDir, report: (line) => lines.push(line) })
    expect(await chain.rpc('eth_blockNumber')).toBe('0x0')
    expect(lines.join()).toMatch(/starts again/)
    expect(readFileSync(join(dataDir, 'state.json.unusable'), 'utf8')).toBe('{"block":')
  })

  it('starts again from a state that anvil itself refuses', async () => {
    const dataDir = mkdtempSync(join(folder, 'odd-'))
    writeFileSync(join(dataDir, 'state.json'), '{"block":7}')
    const lines: string[] = []
    await start({ dataDir, report: (line) => lines.push(line) })
    expect(lines).toHaveLength(1)
  })
})
