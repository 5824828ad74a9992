import { describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { UnknownFigure } from '#shared/ports/account-reader.ts'
import type { RpcNode } from '../../nodes/json-rpc.ts'
import { RpcDenial, RpcFailure } from '../../nodes/rpc-failure.ts'
import { createHoldingsReader } from './holdings.ts'

const TOKEN = `0x${'c0'.repeat(20)}`
const ACCOUNT = '9858effd232b4033e47d90003d41ec34ecaeda94'
const OLD = { blockHash: `0x${'01'.repeat(32)}` }
const word = (base: bigint) => base.toString(16).padStart(64, '0')
const HEADER = {
  ...{ number: '0x7', hash: OLD.blockHash, parentHash: OLD.blockHash, timestamp: '0x1' },
  logsBloom: `0x${'0'.repeat(512)}`,
}

type Answer = string | object | RpcFailure | RpcDenial
type CallFacts = {
  readonly method: string
  readonly together: boolean
  readonly isOld: boolean
  readonly isNamedByHash: boolean
}

/** A reader of one token, a clock, and a node that gives what `answer` says, else a balance of 7 and 5 tokens. */
function rig(answer: (given: CallFacts) => Answer | null, mayLackTokens = false) {
  const clock = { time: 0 }
  const requests: CallFacts[] = []
  const node = {
    host: 'node.example',
    async call(method: string, params: readonly [{ to?: string }, unknown], schema: z.ZodType) {
      const given = {
        method,
        together: method === 'eth_call' && params[0].to === undefined,
        isOld: typeof params[1] === 'object' || typeof params[0] === 'string',
        isNamedByHash: typeof params[1] === 'object',
      }
      requests.push(given)
      const found = answer({ ...given, isOld: params[1] !== 'latest' }) ?? honest(given)
      if (found instanceof Error) throw found
      return schema.parse(found)
    },
  } as unknown as RpcNode
  const reader = createHoldingsReader({ tokens: [TOKEN], mayLackTokens, now: () => clock.time })
  const read = (block: typeof OLD | 'latest' = 'latest', accounts: readonly string[] = [ACCOUNT]) =>
    reader.read(node, accounts, block)
  return { clock, requests, read }
}

function honest({ method, together }: CallFacts): Answer {
  if (together) return `0x${word(1n)}${word(7n)}${word(5n)}`
  if (method === 'eth_call') return `0x${word(5n)}`
  if (method === 'eth_getCode') return '0x60'
  return method.startsWith('eth_getBlock') ? HEADER : '0x7'
}

const unclear = () => new RpcFailure('unclear', 'eth_call at node.example: error -32055: "ask sales"')
const isState = ({ method }: CallFacts) => method === 'eth_call' || method === 'eth_getBalance'
const figures = async (input: ReturnType<ReturnType<typeof rig>['read']>) => (await input)?.holdings.get(ACCOUNT)

describe('a state that is refused in words of no list', () => {
  // Guarantee: a node that serves newest balances and refuses older ones for good counts as one without them, whatever it says.
  it('is gone after three refusals over 20 s while the newest is served', async () => {
    const { read, clock } = rig((given) => (isState(given) && given.isOld ? unclear() : null))
    await expect(read(OLD)).rejects.toThrow('ask sales')
    clock.time = 10_000
    await expect(read(OLD)).rejects.toThrow('ask sales')
    clock.time = 20_000
    expect(await read(OLD)).toBeNull()
    expect(await figures(read())).toEqual([7n, 5n])
  })

  it('is asked for again each time, and there as soon as it is served', async () => {
    let isOn = true
    const { read, clock } = rig((given) => (isOn && isState(given) && given.isOld ? unclear() : null))
    for (clock.time = 0; clock.time < 20_000; clock.time += 10_000) await expect(read(OLD)).rejects.toThrow()
    expect(await read(OLD)).toBeNull()
    isOn = false
    expect(await figures(read(OLD))).toEqual([7n, 5n])
    isOn = true
    await expect(read(OLD)).rejects.toThrow('ask sales')
  })

  // Guarantee: a node that refuses everything has dropped nothing.
  it('is not gone while the newest is refused too, nor after refusals that pass', async () => {
    const { read, clock } = rig((given) => (isState(given) ? unclear() : null))
    for (clock.time = 0; clock.time < 120_000; clock.time += 10_000)
      await expect(read(OLD)).rejects.toThrow('ask sales')
    for (const kind of ['rate', 'retry', 'late'] as const) {
      const slow = rig((given) => (given.isOld && isState(given) ? new RpcFailure(kind, 'later') : null))
      for (slow.clock.time = 0; slow.clock.time < 120_000; slow.clock.time += 10_000) {
        await expect(slow.read(OLD)).rejects.toThrow('later')
      }
    }
  })
})

describe('balances of many accounts at once', () => {
  const refused = () => new RpcFailure('refused', 'no')

  it('are requested together again after one failure', async () => {
    let failures = 1
    const { read, requests } = rig(({ together }) => (together && failures-- > 0 ? refused() : null))
    expect(await figures(read())).toEqual([7n, 5n])
    requests.length = 0
    expect(await figures(read())).toEqual([7n, 5n])
    expect(requests.map(({ together }) => together)).toEqual([true])
  })

  it('are requested one by one for a minute after two failures, and twice as long after each further one', async () => {
    const { read, requests, clock } = rig(({ together }) => (together ? refused() : null))
    const triesAt = async (time: number) => {
      clock.time = time
      requests.length = 0
      expect(await figures(read())).toEqual([7n, 5n])
      return requests.some(({ together }) => together)
    }
    expect(await triesAt(0)).toBe(true)
    expect(await triesAt(1)).toBe(true)
    expect(await triesAt(59_000)).toBe(false)
    expect(await triesAt(61_000)).toBe(true)
    expect(await triesAt(180_000)).toBe(false)
    expect(await triesAt(182_000)).toBe(true)
    expect(await triesAt(182_000 + 3_600_000)).toBe(true)
  })
})

describe('balances in several requests', () => {
  // Guarantee: two back ends of one URL, one of which ignores hashes, give no balances that look like those of one block.
  it.each([
    ['times', 1n],
    ['heights', 1n << 64n],
  ])('are of no named block where their %s differ', async (_, more) => {
    const accounts = Array.from({ length: 200 }, (__, at) => at.toString(16).padStart(40, '1'))
    const stamp = 10n + (7n << 64n)
    const answers = [150, 50].flatMap(
      (count, at) => `0x${word(at === 0 ? stamp : stamp + more)}${word(7n).repeat(2 * count)}`,
    )
    let turn = 0
    const { read } = rig(({ together }) => (together ? (answers[turn++ % 2] ?? null) : null))
    const named = await read(OLD, accounts)
    expect([named?.time, named?.number]).toEqual([Number.NaN, Number.NaN])
    expect(await read('latest', accounts)).toMatchObject({ time: 10_000, number: 7 })
  })
})

describe('balances one by one', () => {
  // Guarantee: a single balance says nothing about its block, so a node that gives another one by hash than by height is not believed.
  it.each(['eth_getBalance', 'eth_call', 'eth_getCode'])(
    'are refused where %s differs by hash and by height',
    async (changed) => {
      const { read } = rig(({ method, together, isNamedByHash }) => {
        if (together) return new RpcFailure('refused', 'no')
        const others: Readonly<Record<string, string>> = { eth_call: `0x${word(6n)}`, eth_getCode: '0x' }
        return method === changed && isNamedByHash ? (others[method] ?? '0x8') : null
      })
      await expect(read(OLD)).rejects.toThrow('balances of another block than 7')
      await expect(read()).rejects.toThrow('balances of another block than 7')
    },
  )

  it('are refused where the node has another block at the height afterwards', async () => {
    let isReplaced = false
    const { read } = rig(({ method, together }) => {
      if (together) return new RpcFailure('refused', 'no')
      if (method !== 'eth_getBlockByNumber') return null
      return isReplaced ? { ...HEADER, hash: `0x${'02'.repeat(32)}` } : null
    })
    expect(await figures(read(OLD))).toEqual([7n, 5n])
    isReplaced = true
    await expect(read(OLD)).rejects.toThrow('balances of another block than 7')
  })
})

describe('a token that gives no balance', () => {
  const ones = `0x${word(1n)}${word(7n)}${word((1n << 256n) - 1n)}`

  // Guarantee: two readings of a token that fails are never "no change".
  it.each([
    ['in the batch', ({ together }: CallFacts) => (together ? ones : null)],
    [
      'that reverts',
      ({ together, method }: CallFacts) =>
        together ? '0x' : method === 'eth_call' ? new RpcDenial('reverted', 'no', { method, host: 'h' }) : null,
    ],
    ['that is empty', ({ method }: CallFacts) => (method === 'eth_call' ? '0x' : null)],
  ])('%s is unknown, and equal to nothing', async (_, answer) => {
    const { read } = rig(answer)
    const [one, other] = [(await figures(read()))?.[1], (await figures(read()))?.[1]]
    expect(one).toBeInstanceOf(UnknownFigure)
    expect(one === other).toBe(false)
  })

  it('is none where a network of test mode has no such contract, and a node without state on a main one', async () => {
    const bare = ({ together, method }: CallFacts) => (together ? ones : method === 'eth_getCode' ? '0x' : null)
    expect(await figures(rig(bare, true).read())).toEqual([7n, 0n])
    await expect(rig(bare).read()).rejects.toThrow('no code')
  })

  it('is not what a failure of its call says', async () => {
    const { read } = rig(({ together, method }) => (together ? '0x' : method === 'eth_call' ? unclear() : null))
    await expect(read()).rejects.toThrow('ask sales')
  })
})
