import { beforeAll, describe, expect, it } from 'vitest'
import type { LocalChain } from '#dev/local-chain/start-local-chain.ts'
import { readBooks } from '#test/support/evm-oracle.ts'
import { freshChain } from '#test/support/worker-chain.ts'
import { type Account, createPayers, type Payers } from './payers.ts'

const AMOUNT = 3n * 10n ** 15n

let chain: LocalChain
let payers: Payers
beforeAll(async () => {
  chain = await freshChain()
  payers = await createPayers(chain)
})

const height = async () => Number(await chain.rpc('eth_blockNumber'))

/** What the books have after one block in which something happened to an account. */
async function booksOf(kind: Account['kind'], happen: (account: Account) => Promise<unknown>, blocks = 1) {
  const account = await payers.open(kind)
  await chain.mine()
  const from = await height()
  await happen(account)
  await chain.mine(blocks)
  const { incomes, movedByCode } = await readBooks(chain.url, [account.matchKey], { from, to: await height() })
  return {
    incomes: incomes.map(({ asset, amountBase, txHash }) => [asset, amountBase, txHash === null ? 'inside' : 'direct']),
    isMovedByCode: movedByCode.has(account.matchKey),
  }
}

// Guarantee: the oracle sees every way in which money comes, with its amount, once; and what only goes away is no income.
describe('the oracle', () => {
  it.each<[string, (account: Account) => Promise<unknown>, readonly unknown[]]>([
    ['coins', (to) => payers.pay(to, 'eth_ethereum', AMOUNT), [['eth_ethereum', AMOUNT, 'direct']]],
    ['tokens', (to) => payers.pay(to, 'usdc_ethereum', 5n), [['usdc_ethereum', 5n, 'direct']]],
    ['coins inside of a call', (to) => payers.call(to, AMOUNT), [['eth_ethereum', AMOUNT, 'inside']]],
    ['two payments of one call', (to) => payers.batch(to, to, 10n), [['eth_ethereum', 16n, 'inside']]],
    ['what a contract leaves behind', (to) => payers.destroy(to, AMOUNT), [['eth_ethereum', AMOUNT, 'inside']]],
    ['nothing in a transfer of nothing', (to) => payers.poison(to, 'usdt_ethereum'), []],
    ['nothing when its own key pays', (from) => payers.sweep(from, 'eth_ethereum', AMOUNT), []],
    [
      'coins in and out in one block',
      async (account) => {
        await payers.pay(account, 'eth_ethereum', AMOUNT)
        await payers.sweep(account, 'eth_ethereum', 2n * AMOUNT)
        await payers.call(account, 7n)
      },
      [
        ['eth_ethereum', AMOUNT, 'direct'],
        ['eth_ethereum', 7n, 'inside'],
      ],
    ],
  ])('shows %s', async (_, happen, expected) => {
    expect((await booksOf('key', happen)).incomes).toEqual(expected)
  })

  it('shows coins that no transaction moved', async () => {
    const happen = async (account: Account) => {
      await chain.mine()
      await chain.fund(account.address, (await payers.holds(account, 'eth_ethereum')) + 9n)
    }
    expect((await booksOf('key', happen)).incomes).toEqual([['eth_ethereum', 9n, 'inside']])
  })

  it('shows tokens that a collector takes away again', async () => {
    const happen = async (account: Account) => {
      await payers.pay(account, 'usdt_ethereum', 5n)
      await chain.mine()
      await payers.collect(account, 'usdt_ethereum', 5n)
    }
    expect((await booksOf('key', happen)).incomes).toEqual([['usdt_ethereum', 5n, 'direct']])
  })

  it('shows coins that go through an account that has nothing before and after', async () => {
    const happen = async (account: Account) => {
      await payers.drain(account)
      await chain.mine()
      await payers.call(account, AMOUNT)
      await chain.mine()
      await payers.drain(account)
      await chain.mine()
      expect(await payers.holds(account, 'eth_ethereum')).toBe(0n)
    }
    expect((await booksOf('key', happen)).incomes).toEqual([['eth_ethereum', AMOUNT, 'inside']])
  })

  it('shows nothing of a payment that failed', async () => {
    expect((await booksOf('forwarding', (to) => payers.fail(to, AMOUNT))).incomes).toEqual([])
  })

  it('shows which accounts are emptied by code', async () => {
    expect(await booksOf('forwarding', (to) => payers.pay(to, 'eth_ethereum', AMOUNT))).toEqual({
      incomes: [['eth_ethereum', AMOUNT, 'direct']],
      isMovedByCode: true,
    })
    expect(await booksOf('safe', (from) => payers.execute(from, AMOUNT))).toEqual({ incomes: [], isMovedByCode: true })
    const delegated = async (account: Account) => {
      await payers.delegate(account)
      await chain.mine()
      await payers.execute(account, AMOUNT)
    }
    expect(await booksOf('key', delegated)).toEqual({ incomes: [], isMovedByCode: true })
    expect((await booksOf('key', (from) => payers.sweep(from, 'eth_ethereum', AMOUNT))).isMovedByCode).toBe(false)
  })
})
