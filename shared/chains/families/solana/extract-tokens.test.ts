import { describe, expect, it } from 'vitest'
import {
  AUXILIARY,
  amounts,
  extract,
  key,
  LOOK_ALIKE,
  made,
  OTHER_REFERENCE,
  OURS,
  OURS_ATA,
  PAYER,
  payment,
  REFERENCE,
  SIGNATURE,
  TOKEN_2022,
  tokenAccounts,
  tokenPayment,
  tokens,
  USDC,
  unreliable,
  WSOL,
} from './extract.fixture.ts'
import type { TokenBalance, Transaction } from './wire.ts'

describe('tokens', () => {
  it('are what an owner gained of a mint', () => {
    expect(extract(tokenPayment())).toMatchObject([
      {
        key: `test:solana:${SIGNATURE}:${OURS}:${USDC}`,
        toAddress: OURS,
        fromAddress: PAYER,
        asset: 'usdc_solana',
        contract: USDC,
        amountBase: 1_500_000n,
      },
    ])
  })

  it('in an account made by the same transaction count from zero', () => {
    const created = tokenPayment({ preTokenBalances: [tokens(1, PAYER, '5000000')] })
    expect(amounts(created)).toEqual([['usdc_solana', 1_500_100n, OURS]])
  })

  it('in an auxiliary account belong to its owner, and moves between two accounts of one owner to nobody', () => {
    const auxiliary = made([...tokenAccounts, [AUXILIARY, 'w', 2_039_280, 2_039_280]], {
      preTokenBalances: [tokens(1, PAYER, '10'), tokens(2, OURS, '5')],
      postTokenBalances: [tokens(1, PAYER, '8'), tokens(2, OURS, '5'), tokens(3, OURS, '2')],
    })
    expect(amounts(auxiliary)).toEqual([['usdc_solana', 2n, OURS]])
    const moved = tokenPayment({
      preTokenBalances: [tokens(1, OURS, '10')],
      postTokenBalances: [tokens(1, OURS, '4'), tokens(2, OURS, '6')],
    })
    expect(amounts(moved)).toEqual([])
  })

  it('of 18 digits and more are exact', () => {
    const whale = tokenPayment({ preTokenBalances: [], postTokenBalances: [tokens(2, OURS, '18446744073709551615')] })
    expect(amounts(whale)).toEqual([['usdc_solana', 18_446_744_073_709_551_615n, OURS]])
  })

  // Guarantee: only the table's mints credit anybody.
  it('of another mint are nothing, whatever they call themselves; wrapped SOL is recorded without an asset', () => {
    const foreign = { mint: LOOK_ALIKE, programId: TOKEN_2022 }
    expect(amounts(tokenPayment({ preTokenBalances: [], postTokenBalances: [tokens(2, OURS, '9', foreign)] }))).toEqual(
      [],
    )
    const uiTokenAmount = { amount: '5', decimals: 9 }
    const wrapped = tokens(2, OURS, '5', { mint: WSOL, uiTokenAmount })
    expect(extract(tokenPayment({ preTokenBalances: [], postTokenBalances: [wrapped] }))).toMatchObject([
      { asset: null, contract: WSOL, amountBase: 5n },
    ])
  })

  it('and coins of one transaction are two transfers', () => {
    const both = made(
      [
        [PAYER, 's', 9_000_000, 8_994_993],
        [OURS, 'w', 0, 7],
        [OURS_ATA, 'w', 2_039_280, 2_039_280],
      ],
      { postTokenBalances: [tokens(2, OURS, '3')] },
    )
    expect(amounts(both)).toEqual([
      ['sol_solana', 7n, OURS],
      ['usdc_solana', 3n, OURS],
    ])
  })

  it.each<[string, Partial<TokenBalance>]>([
    ['another program', { programId: TOKEN_2022 }],
    ['no program', { programId: undefined } as object],
    ['other decimals', { uiTokenAmount: { amount: '9', decimals: 9 } }],
    ['no owner', { owner: undefined } as object],
  ])('of our mint with %s are a contradiction', (_what, change) => {
    const odd = tokenPayment({ preTokenBalances: [], postTokenBalances: [tokens(2, OURS, '9', change)] })
    expect(() => extract(odd)).toThrow(unreliable)
  })
})

describe('a transaction', () => {
  // Guarantee: a failed transaction moved nothing but its fee.
  it('that failed is nothing', () => {
    const failed = { ...payment, meta: { ...payment.meta, err: { InstructionError: [0, { Custom: 1 }] } } }
    expect(extract(failed)).toEqual([])
  })

  it('shows all its references, and no account that signs, changes or comes from a lookup table', () => {
    const named = made([
      [PAYER, 's', 2_000_000, 994_000],
      [OURS, 'w', 0, 1_000_000],
      [OTHER_REFERENCE, 'r', 0, 0],
      [REFERENCE, 'r', 0, 0],
      [key(13), 'r', 0, 0],
    ])
    named.transaction.accountKeys[4] = { pubkey: key(13), signer: false, writable: false, source: 'lookupTable' }
    expect(extract(named)[0]?.references).toEqual(['09'.repeat(32), '08'.repeat(32)])
    const many = made([
      [PAYER, 's', 9, 8],
      [OURS, 'w', 0, 1],
      ...Array.from({ length: 100 }, (_, i) => [key(100 + i), 'r', 0, 0] as const),
    ])
    expect(extract(many)[0]?.references).toHaveLength(64)
  })

  it.each<[string, () => Transaction[]]>([
    ['twice in its block', () => [payment, payment]],
    ['with fewer balances than accounts', () => [made([[PAYER, 's', 1, 1]], { postBalances: [] })]],
    ['with a token balance of no account', () => [tokenPayment({ postTokenBalances: [tokens(3, OURS, '9')] })]],
    [
      'with two token balances of one account',
      () => [tokenPayment({ postTokenBalances: [tokens(2, OURS, '9'), tokens(2, OURS, '9')] })],
    ],
    [
      'with a gain of something that is no key',
      () => [
        made([
          [PAYER, 's', 9, 1],
          ['0OIl', 'w', 0, 5],
        ]),
      ],
    ],
    [
      'with a gain of a key that is too short',
      () => [
        made([
          [PAYER, 's', 9, 1],
          ['abc', 'w', 0, 5],
        ]),
      ],
    ],
  ])('%s is refused', (_what, transactions) => {
    expect(() => extract(...transactions())).toThrow(unreliable)
  })
})
