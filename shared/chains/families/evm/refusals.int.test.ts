import { describe, expect, it } from 'vitest'
import { plainText } from '#shared/domain/nodes/plain-text.ts'
import { type BlockPlace, UnknownFigure } from '#shared/ports/account-reader.ts'
import { NodeMismatch, NodeUnreliable } from '#shared/ports/scanning.ts'
import { sampleOf } from '#test/support/depth.ts'
import { useEvmStage, WATCHED_ACCOUNT } from '#test/support/evm-stage.ts'
import type { RpcAnswer } from '#test/support/lying-node.ts'
import { PROVIDER_REFUSALS, type ProviderRefusal } from '#test/support/provider-refusals.ts'
import type { EvmClient } from './client.ts'

const OURS = WATCHED_ACCOUNT.slice(2).toLowerCase()
const PAID = 5n
const range: { from: BlockPlace; to: BlockPlace; paidAt: number } = {
  from: { height: 0, hash: '', time: 0 },
  to: { height: 0, hash: '', time: 0 },
  paidAt: 0,
}

const stage = useEvmStage(async (chain) => {
  const head = async () => {
    const block = (await chain.rpc('eth_getBlockByNumber', ['latest', false])) as Record<string, string>
    return { height: Number(block['number']), hash: block['hash'] ?? '', time: Number(block['timestamp']) * 1_000 }
  }
  await chain.mine(3)
  range.from = await head()
  await chain.pay({ asset: 'usdt_ethereum', to: WATCHED_ACCOUNT, amountBase: PAID })
  await chain.mine(1)
  range.paidAt = (await head()).height
  await chain.mine(4)
  range.to = await head()
})

type Call = { method: string; params: unknown[] }

/** A question that the scanner asks, what is refused of it, and what answers it truly. */
interface Question {
  readonly what: string
  isRefused(call: Call): boolean
  query(client: EvmClient): Promise<unknown>
  /** What the answer says; a refusal must not change it into anything else than `none`. */
  truth(): unknown
  /** Allowed while the question is refused, beside a failure. */
  allowed?(answer: unknown, refusal: ProviderRefusal): boolean
  /** Two nodes agree about it some seconds later: it is put to one. */
  readonly isOfOneNode?: boolean
  /** The way of reading that needs no such answer may serve at once. */
  readonly hasOtherWay?: boolean
}

const accounts = (client: EvmClient) => client.accounts ?? expect.fail('no reader')
const block = (tag: unknown) =>
  typeof tag === 'object' && tag !== null ? (tag as { blockHash: string }).blockHash : tag
const amounts = async (client: EvmClient) =>
  (await client.scan(range.from.height + 1, range.to.height, stage.watches)).flatMap(({ transfers }) =>
    transfers.map(({ amountBase }) => amountBase),
  )
/** Until the scan has passed the payment: a failing range becomes smaller from step to step. */
async function patientAmounts(client: EvmClient): Promise<readonly bigint[]> {
  const found: bigint[] = []
  let next = range.from.height + 1
  for (let tries = 0; next <= range.to.height && tries < 20; tries += 1) {
    const blocks = await client.scan(next, range.to.height, stage.watches).catch((error: unknown) => {
      if (tries === 19 || !(error instanceof NodeUnreliable)) throw error
      return []
    })
    found.push(...blocks.flatMap(({ transfers }) => transfers.map(({ amountBase }) => amountBase)))
    next = (blocks.at(-1)?.height ?? next - 1) + 1
  }
  return found
}

const QUESTIONS: readonly Question[] = [
  {
    what: 'a look at newest balances',
    isRefused: ({ method }) => method === 'eth_call',
    query: async (client) => (await accounts(client).glance([OURS])).holdings.get(OURS)?.[1],
    truth: () => PAID,
    allowed: (answer, { meaning }) => meaning === 'reverted' && answer instanceof UnknownFigure,
  },
  {
    what: 'a comparison of balances',
    isRefused: ({ method, params }) =>
      ['eth_call', 'eth_getBalance'].includes(method) && block(params[1]) === range.from.hash,
    query: async (client) => {
      const budget = { blocks: 50, reads: 400, logs: 0 }
      const { from, to } = range
      const question = { from, to, matchKeys: [OURS], senders: [], exactly: false, least: [1n, 1n], budget }
      const answer = await accounts(client).touched(question)
      return typeof answer === 'string' ? answer : answer.heights.join()
    },
    truth: () => String(range.paidAt),
    allowed: (answer, { meaning }) =>
      meaning === 'pruned' ? answer === 'gone' : meaning === 'reverted' && answer === String(range.paidAt),
  },
  {
    what: 'the check of a token',
    isRefused: ({ method }) => method === 'eth_call',
    query: (client) => client.verify().then((missing) => missing.join()),
    truth: () => '',
    allowed: (answer, { meaning }) => meaning === 'reverted' && answer instanceof NodeMismatch,
  },
  {
    what: 'the finalized block',
    isRefused: ({ params }) => params[0] === 'finalized',
    // It is asked for once with each block.
    async query(client) {
      await stage.chain.mine(1)
      return (await client.head()).finalizedHeight === null ? 'none' : 'some'
    },
    isOfOneNode: true,
    truth: () => 'some',
    allowed: (answer) => answer === 'none',
  },
  {
    what: 'logs of blocks',
    isRefused: ({ method }) => method === 'eth_getLogs',
    query: async (client) => (await amounts(client)).join(),
    truth: () => String(PAID),
    hasOtherWay: true,
  },
  {
    what: 'a block',
    isRefused: ({ method, params }) => method === 'eth_getBlockByNumber' && params[1] === true,
    query: async (client) => (await amounts(client)).join(),
    truth: () => String(PAID),
    hasOtherWay: true,
  },
]

const answerOf = ({ status, code, text }: ProviderRefusal): RpcAnswer => ({
  status,
  headers: { 'retry-after': '0' },
  ...(code === null ? { body: text } : { error: { code, message: text } }),
})

/** A client of two nodes behind one provider, so that no pause for its rate is waited for, and the switch of their refusal. */
async function refusing(refusal: ProviderRefusal, isRefused: Question['isRefused'], isOfOneNode = false) {
  const state = { isOn: true }
  const url = await stage.liar((call, truth) => (state.isOn && isRefused(call) ? answerOf(refusal) : truth))
  return {
    state,
    client: stage.client(isOfOneNode ? [url] : [url, url]),
  }
}

/** The beginning of a provider's words as an operator reads them. */
const wordsOf = ({ text }: ProviderRefusal): string => (text.startsWith('<') ? '' : plainText(text).slice(0, 6))

/** One node is asked again a few times, with pauses, when it refuses for its rate. */
const UNHURRIED = PROVIDER_REFUSALS.evm.filter(({ meaning }) => meaning !== 'rate')

describe.each(QUESTIONS)('$what', ({ isRefused, query, truth, allowed, isOfOneNode, hasOtherWay }) => {
  // Guarantee: no refusal of any provider becomes a fact about the chain, and none outlives itself.
  it.each(sampleOf(isOfOneNode === true ? UNHURRIED : PROVIDER_REFUSALS.evm, 30))(
    'refused by $provider: $status $code $text',
    async (refusal) => {
      const { client, state } = await refusing(refusal, isRefused, isOfOneNode)
      const answer = await query(client).catch((error: unknown) => error)
      if (answer !== truth() || hasOtherWay !== true) {
        const isFailure = answer instanceof NodeUnreliable
        expect([isFailure || allowed?.(answer, refusal), answer]).toEqual([true, answer])
        if (isFailure) expect(answer.message).toContain(wordsOf(refusal))
      }
      state.isOn = false
      expect(await query(client)).toEqual(truth())
    },
  )
})

describe('a range of blocks that is refused and served in smaller parts', () => {
  const isWide = ({ method, params }: Call) => {
    const { fromBlock, toBlock } = (params[0] ?? {}) as { fromBlock?: string; toBlock?: string }
    return method === 'eth_getLogs' && fromBlock !== toBlock
  }

  // Guarantee: whatever the words, a range that a provider will not serve becomes smaller until it does.
  it.each(sampleOf(PROVIDER_REFUSALS.evm, 30))('by $provider: $status $code $text', async (refusal) => {
    const { client } = await refusing(refusal, isWide)
    expect(await patientAmounts(client)).toEqual([PAID])
  })
})

// Guarantee: an empty result beside an error is no answer, in whatever form the error comes.
it.each([
  '{"jsonrpc":"2.0","id":1,"result":null,"error":"limit reached for today"}',
  '{"jsonrpc":"2.0","id":1,"result":null,"error":{"message":"limit reached for today"}}',
  '{"jsonrpc":"2.0","id":1,"error":{"code":"-32000","message":"limit reached for today"}}',
  '{"code":35,"message":"limit reached for today"}',
])('takes no result out of %s', async (body) => {
  const url = await stage.liar(({ params }, truth) => (params[1] === false ? { body } : truth))
  await expect(stage.client([url, url]).blockAt(range.from.height)).rejects.toThrow('limit reached for today')
})

it('are texts of at least ten providers', () => {
  const rows = Object.values(PROVIDER_REFUSALS).flat()
  expect(new Set(rows.map(({ provider }) => provider)).size).toBeGreaterThanOrEqual(20)
  expect(rows.length).toBeGreaterThanOrEqual(90)
})
