import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ChainDefinition } from '#shared/chains/definitions/chain.ts'
import { TRANSFER_TOPIC } from '#shared/chains/families/evm/extract.ts'
import type { EvmToken } from '#shared/chains/families/evm/options.ts'

/** Transactions of strangers in a block. */
const STRANGERS = 150
const WORD = 64
/** Bytes of code in front of the accounts of a question for balances. */
const CODE_BYTES = 136
const NO_BLOOM = `0x${'0'.repeat(512)}`

/** A payment on the chain. */
export interface ChainPayment {
  readonly height: number
  readonly matchKey: string
  /** Null: the coin. */
  readonly token: EvmToken | null
  readonly amountBase: bigint
}

/** What a node was asked, by method. */
export interface CallCounts {
  readonly calls: Map<string, number>
  bytes: number
}

/** A node without traces that makes up a chain at the pace of a clock, and counts every call. */
export interface CountingNode extends CallCounts {
  /** Two addresses of the same chain: the first node of a network, and the second, whose calls count in `second` as well. */
  readonly urls: readonly [string, string]
  readonly second: CallCounts
  headAt(now: number): number
  timeOf(height: number): number
  pay(payment: Omit<ChainPayment, 'height'>): ChainPayment
  close(): Promise<void>
}

interface NodeOptions {
  readonly chain: ChainDefinition
  readonly tokens: readonly EvmToken[]
  readonly startAt: number
  readonly now: () => number
  /** Most blocks of one request for logs. */
  readonly logRangeMax: number
}

const hashOf = (text: string) => `0x${createHash('sha256').update(text).digest('hex')}`
const quantity = (value: number | bigint) => `0x${value.toString(16)}`
const word = (value: bigint) => value.toString(16).padStart(WORD, '0')
const FIRST = 1_000_000

/** Starts the node on two free ports of this machine. */
export async function startCountingNode(options: NodeOptions): Promise<CountingNode> {
  const { chain, tokens, startAt, now, logRangeMax } = options
  const paid: ChainPayment[] = []
  const timeOf = (height: number) => Math.floor((startAt + (height - FIRST) * chain.blockTimeMs) / 1_000) * 1_000
  const headAt = (at: number) => FIRST + Math.floor((at - startAt) / chain.blockTimeMs)
  const heights = new Map<string, number>()
  const blockHash = (height: number) => {
    const hash = hashOf(`${chain.id}:${height}`)
    heights.set(hash, height)
    return hash
  }
  const txHash = (height: number, index: number) => hashOf(`${chain.id}:${height}:${index}`)
  const at = (height: number) => paid.filter((one) => one.height === height)
  const heightOf = (tag: unknown): number => {
    if (tag === 'latest') return headAt(now())
    if (tag === 'finalized') return headAt(now() - (chain.finalizesAfterMs ?? 0))
    if (typeof tag === 'string') return Number(tag)
    return heights.get((tag as { blockHash: string }).blockHash) ?? -1
  }
  const sum = (matchKey: string, contract: string | null, height: number) =>
    paid
      .filter(
        (one) =>
          one.matchKey === matchKey && one.height <= height && (one.token?.contract.toLowerCase() ?? null) === contract,
      )
      .reduce((total, { amountBase }) => total + amountBase, 0n)

  function block(height: number, isFull: boolean) {
    if (height > headAt(now()) || height < 0) return null
    const ours = at(height).map(({ matchKey, token, amountBase }) => ({
      to: token?.contract ?? `0x${matchKey}`,
      value: token === null ? quantity(amountBase) : '0x0',
    }))
    const others = Array.from({ length: STRANGERS }, () => ({ to: `0x${'22'.repeat(20)}`, value: '0x1' }))
    const hash = blockHash(height)
    const transactions = [...ours, ...others].map((one, index) =>
      isFull
        ? { ...one, hash: txHash(height, index), blockHash: hash, from: `0x${'11'.repeat(20)}` }
        : txHash(height, index),
    )
    const links = { number: quantity(height), hash, parentHash: blockHash(height - 1) }
    return { ...links, timestamp: quantity(timeOf(height) / 1_000), logsBloom: NO_BLOOM, transactions }
  }

  function logs(filter: Record<string, unknown>) {
    const [from, to] =
      typeof filter['blockHash'] === 'string'
        ? [heightOf(filter), heightOf(filter)]
        : [Number(filter['fromBlock']), Number(filter['toBlock'])]
    if (to - from + 1 > logRangeMax)
      return {
        error: { code: -32_600, message: `You can make eth_getLogs requests with up to a ${logRangeMax} block range` },
      }
    const recipients = (filter['topics'] as unknown[] | undefined)?.[2] as readonly string[] | undefined
    const rows = paid.flatMap((one) => {
      if (one.token === null || one.height < from || one.height > to) return []
      const recipient = `0x${one.matchKey.padStart(WORD, '0')}`
      if (recipients !== undefined && !recipients.includes(recipient)) return []
      return [logOf(one.height, at(one.height).indexOf(one), one.token.contract, recipient, one.amountBase)]
    })
    const [token] = tokens
    const stranger = recipients === undefined && from === to && token !== undefined
    const foreign = stranger
      ? [logOf(from, at(from).length, token.contract, `0x${'33'.repeat(20).padStart(WORD, '0')}`, 1n)]
      : []
    return { result: [...rows, ...foreign] }
  }

  function logOf(height: number, index: number, address: string, recipient: string, amountBase: bigint) {
    const place = {
      blockNumber: quantity(height),
      blockHash: blockHash(height),
      transactionHash: txHash(height, index),
    }
    const topics = [TRANSFER_TOPIC, `0x${'11'.repeat(20).padStart(WORD, '0')}`, recipient]
    return {
      address,
      topics,
      data: `0x${word(amountBase)}`,
      ...place,
      transactionIndex: quantity(index),
      logIndex: quantity(index),
    }
  }

  function request({ to, data }: { readonly to?: string; readonly data: string }, tag: unknown) {
    if (to !== undefined) {
      const decimals = tokens.find(({ contract }) => contract.toLowerCase() === to.toLowerCase())?.decimals ?? 0
      return `0x${word(BigInt(decimals))}`
    }
    const height = heightOf(tag)
    const words = (data.slice(2 + 2 * CODE_BYTES).match(/.{64}/g) ?? []).map((one) => one.slice(-40))
    const rows = Array.from({ length: words.length / 2 }, (_, row) => {
      const [token = '', account = ''] = words.slice(row * 2, row * 2 + 2)
      return word(sum(account, BigInt(`0x${token}`) === 0n ? null : `0x${token}`, height))
    })
    // The second half of the first word is the time, the first half the height; contracts of Arbitrum see another one.
    return `0x${word((BigInt(height) << 64n) | BigInt(Math.floor(timeOf(height) / 1_000)))}${rows.join('')}`
  }

  function answer(
    method: string,
    params: readonly unknown[],
  ): { result: unknown } | { error: { code: number; message: string } } {
    if (method === 'eth_chainId') return { result: quantity(chain.chainIds?.live ?? 0) }
    if (method === 'eth_blockNumber') return { result: quantity(headAt(now())) }
    if (method === 'eth_getBlockByNumber') return { result: block(heightOf(params[0]), params[1] === true) }
    if (method === 'eth_getLogs') return logs(params[0] as Record<string, unknown>)
    if (method === 'eth_call') return { result: request(params[0] as { data: string }, params[1]) }
    if (method === 'eth_getTransactionCount') return { result: '0x0' }
    if (method === 'eth_getStorageAt') return { result: `0x${'0'.repeat(64)}` }
    if (method === 'eth_getTransactionReceipt') {
      const found = paid.find((one) => at(one.height).some((_, index) => txHash(one.height, index) === params[0]))
      if (found === undefined) return { result: null }
      const place = { blockNumber: quantity(found.height), blockHash: blockHash(found.height) }
      return {
        result: { transactionHash: params[0], ...place, status: '0x1', gasUsed: '0x5208', effectiveGasPrice: '0x1' },
      }
    }
    return { error: { code: -32_601, message: 'the method does not exist/is not available' } }
  }

  const counts: CallCounts = { calls: new Map(), bytes: 0 }
  const second: CallCounts = { calls: new Map(), bytes: 0 }
  const doors = [await openDoor(answer, [counts]), await openDoor(answer, [counts, second])] as const
  return Object.assign(counts, {
    urls: [doors[0].url, doors[1].url] as const,
    second,
    headAt,
    timeOf,
    pay(payment: Omit<ChainPayment, 'height'>) {
      const one = { ...payment, height: headAt(now()) + 1 }
      paid.push(one)
      return one
    },
    async close() {
      for (const door of doors) await door.close()
    },
  })
}

type Answer = (method: string, params: readonly unknown[]) => object

/** An address where the chain answers; every call is added to all of these counts. */
async function openDoor(answer: Answer, counts: readonly CallCounts[]) {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks)
      const { id, method, params } = JSON.parse(body.toString()) as { id: number; method: string; params: unknown[] }
      const text = JSON.stringify({ jsonrpc: '2.0', id, ...answer(method, params) })
      for (const count of counts) {
        count.calls.set(method, (count.calls.get(method) ?? 0) + 1)
        count.bytes += body.length + text.length
      }
      response.end(text)
    })
  })
  // Hours of the virtual clock may pass between two calls, or seconds of a busy machine: a connection never ends by itself.
  server.keepAliveTimeout = 0
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
