import { Wallet as Signer } from 'ethers'
import { afterEach, beforeEach, expect, vi } from 'vitest'
import { DEVELOPMENT_PAYER } from '#dev/local-chain/pay.ts'
import { createChainClient, type OpenChainClient } from '#shared/chains/create-chain-client.ts'
import { createInvoiceRepository } from '#shared/db/invoices/invoice-repository.ts'
import { startChainScanner } from '#shared/usecases/scanning/scan-chain.ts'
import type { ScanDeps, ScanSource } from '#shared/usecases/scanning/scan-session.ts'
import { USUAL_LOOKS } from '#shared/usecases/scanning/thrifty-pace.ts'
import { sampleInvoice, samplePaymentMethod } from './db-samples.ts'
import { type Lie, startLyingNode } from './lying-node.ts'
import { type ScanStage, useScanStage, WATCHED } from './scan-stage.ts'
import type { TestStores } from './stores.ts'

/** A contract that passes on what it gets to its first argument. */
export const FORWARDER = `0x${'a1'.repeat(20)}`
const FORWARD = '0x6000600060006000346000355af100'
/** Account 2 of anvil's public phrase. */
const PAYER = new Signer('0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a')
/** Base units of one ether. */
export const ETHER = 10n ** 18n

/** As a node that is too busy says it. */
export const TIMED_OUT = { error: { code: -32_000, message: 'timed out' } }
/** As go-ethereum says it. */
const TRIE_GONE = { code: -32_000, message: 'missing trie node 0b1c (path ) state 0x0b is not available' }

const word = (hex: string) => hex.slice(2).toLowerCase().padStart(64, '0')
const THROUGH = `0x${word(WATCHED.address)}`

/** How the payment looks that a rise of the watched address became. */
export const increase = (amount: bigint, ordinal = 0) => ({
  key: `test:ethereum:d:0x${WATCHED.matchKey}:${amount}:${ordinal}`,
  amount: String(amount),
})

/** Whether a call is a question for balances. */
export const readsFunds = ({ method, params }: Parameters<Lie>[0]): boolean =>
  method === 'eth_getBalance' || (method === 'eth_call' && (params[0] as { to?: string }).to === undefined)

/** A scan stage whose watched address waits for ether, some of it from inside of calls. */
export function useBalanceStage(stores: TestStores) {
  const stage = useScanStage(stores)
  const opened: { close(): Promise<void> }[] = []
  beforeEach(async () => {
    await stage.chain.rpc('anvil_setCode', [FORWARDER, FORWARD])
    await stage.chain.rpc('anvil_impersonateAccount', [WATCHED.address])
  })
  afterEach(async () => {
    for (const resource of opened.splice(0)) await resource.close()
  })

  const sendFrom = async (from: string, to: string, value: bigint, more: object) => {
    await stage.chain.rpc('eth_sendTransaction', [{ from, to, value: `0x${value.toString(16)}`, ...more }])
  }
  const untilHead = async () => stage.untilHeight(await stage.height())
  const clientOf = (rpcUrls: readonly string[] = [stage.chain.url]): OpenChainClient => {
    const networks = { live: {}, test: { ethereum: { rpcUrls, chainId: 31_337 } } }
    const client = createChainClient(networks, 'test', 'ethereum', stores.runtime.metrics)
    if (client === null) throw new Error('no client')
    opened.push(client)
    return client
  }
  const source = (client = clientOf(), change: Partial<ScanSource> = {}) => stage.source({ client, ...change })

  const tools = {
    stage,
    clientOf,
    /** The network as a scanner reads it. */
    source,
    untilHead,
    /** Looks once up to the head. */
    async scanOnce(): Promise<void> {
      const scanner = stage.scan(source())
      await untilHead()
      await scanner.stop()
    },
    /** Starts a scanner that cannot get past one of its writes, and ends it when it has tried. */
    async scanAndDie(
      at: (deps: ScanDeps, die: () => Promise<never>) => Partial<ScanDeps>,
      change?: Partial<ScanSource>,
    ) {
      const died = vi.fn()
      const die = async () => {
        died()
        throw new Error('killed')
      }
      const scanner = startChainScanner({ ...stage.deps, ...at(stage.deps, die) }, source(undefined, change))
      await vi.waitUntil(() => died.mock.calls.length > 0, 60_000)
      await scanner.stop()
    },
    /** A node that answers like the chain except where it lies. */
    async lying(lie: Lie): Promise<string> {
      const node = await startLyingNode(stage.chain.url, lie)
      opened.push(node)
      return node.url
    },
    /** A node that has dropped the state of every block but the newest, which it says in these words. */
    async prunedNode(error: { readonly code: number; readonly message: string } = TRIE_GONE): Promise<string> {
      const newest = (await stage.chain.rpc('eth_getBlockByNumber', ['latest', false])) as { hash: string }
      const node = await startLyingNode(stage.chain.url, (call, truth) => {
        const isOld = readsFunds(call) && (call.params[1] as { blockHash: string }).blockHash !== newest.hash
        return isOld ? { error } : truth
      })
      opened.push(node)
      return node.url
    },
    /** Scans with a node that gives no balances until `answer` is called, and again from `silence` on; both resolve when blocks have passed without them. */
    async scanBlind(): Promise<{ stop(): Promise<void>; answer(): void; silence(): Promise<void> }> {
      const node = { isSilent: true, refusals: 0 }
      let skippedMs = 0
      const url = await tools.lying((call, truth) => {
        if (!node.isSilent || !readsFunds(call)) return truth
        node.refusals += 1
        return TIMED_OUT
      })
      const clock = { ...stage.deps.clock, now: () => stage.deps.clock.now() + skippedMs }
      const { stop } = stage.scan(source(clientOf([url]), { looks: USUAL_LOOKS }), { clock })
      const silence = async () => {
        Object.assign(node, { isSilent: true, refusals: 0 })
        await vi.waitUntil(() => node.refusals > 2, 20_000)
        skippedMs += 61_000
        await untilHead()
      }
      await silence()
      const answer = () => {
        node.isSilent = false
      }
      return { stop, answer, silence }
    },
    /** Stores ether that came inside of a call as the sum of several blocks, and replaces the last of them: its own stays. */
    async replaceSum(): Promise<void> {
      await tools.waitForEther()
      await tools.scanOnce()
      await tools.send(ETHER)
      await stage.chain.mine(4)
      const summed = stage.scan(source(clientOf([await tools.prunedNode()])))
      await untilHead()
      await summed.stop()
      expect(await tools.credited()).toEqual([ETHER])
      await stage.chain.reorg(2)
      await stage.chain.mine()
    },
    /** An invoice of `at` that waits for ether at the watched address; gives its id. */
    async waitForEther(at = Date.now(), number = 1): Promise<string> {
      const wanted = { asset: 'eth_ethereum', symbol: 'ETH', decimals: 18 } as const
      const paymentMethod = { ...samplePaymentMethod(WATCHED.matchKey, at, wanted), address: WATCHED.address }
      const invoice = sampleInvoice(stores.runtime.random, { at, number, state: { paymentMethods: [paymentMethod] } })
      await createInvoiceRepository(stores.db).insert(invoice)
      return invoice.terms.id
    },
    /** Sends ether through the contract, unless `to` says that it goes straight. Not mined yet. */
    send: (value: bigint, to = FORWARDER) =>
      sendFrom(DEVELOPMENT_PAYER, to, value, { gas: '0x7a120', ...(to === FORWARDER && { data: THROUGH }) }),
    /** The watched address moves its own coins on. */
    sweep: (value: bigint) => sendFrom(WATCHED.address, PAYER.address, value, { gas: '0x5208' }),
    /** The watched address sends and fails, which costs it the fee. */
    fail: () => sendFrom(WATCHED.address, FORWARDER, 1n, { gas: '0x5300' }),
    /** A signed transaction that sends ether through the contract, so that the very same can be mined again. */
    signed: (value: bigint) =>
      PAYER.signTransaction({
        chainId: 31_337,
        nonce: 0,
        to: FORWARDER,
        value,
        data: THROUGH,
        gasLimit: 500_000,
        maxFeePerGas: 10_000_000_000n,
        maxPriorityFeePerGas: 1n,
        type: 2,
      }),
    /** Amounts of live payments, sorted. */
    credited: async () => creditedOf(await stage.payments()),
  }
  return tools
}

function creditedOf(payments: Awaited<ReturnType<ScanStage['payments']>>): readonly bigint[] {
  const amounts = payments.filter(({ state }) => state !== 'orphaned').map(({ amount }) => BigInt(amount))
  return amounts.sort((one, other) => (one < other ? -1 : 1))
}
