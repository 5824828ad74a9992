import { base58 } from '@scure/base'
import { describe, expect, it } from 'vitest'
import { createWatchIndex } from '../watch-index.ts'
import { type KnownMint, matchKeyOf, TOKEN_PROGRAM, transfersOf } from './extract.ts'
import type { TokenBalance, Transaction } from './wire.ts'

const key = (fill: number) => base58.encode(new Uint8Array(32).fill(fill))
const SIGNATURE = base58.encode(new Uint8Array(64).fill(7))
const PAYER = key(1)
const OURS = key(2)
const OURS_TOO = key(3)
const PAYER_ATA = key(4)
const OURS_ATA = key(5)
const AUXILIARY = key(6)
const REFERENCE = key(8)
const OTHER_REFERENCE = key(9)
const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
const WSOL = 'So11111111111111111111111111111111111111112'
const TOKEN_2022 = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb'
const LOOK_ALIKE = key(11)

const mints = new Map<string, KnownMint>([
  [USDC, { asset: 'usdc_solana', decimals: 6 }],
  [WSOL, { asset: null, decimals: null }],
])
const watches = createWatchIndex()
for (const owner of [OURS, OURS_TOO]) watches.add(matchKeyOf(owner))

type Account = readonly [pubkey: string, role: 's' | 'w' | 'r', pre: number, post: number]

/** A transaction whose first account pays a fee of 5,000 lamports. */
function made(accounts: readonly Account[], change: Partial<Transaction['meta']> = {}): Transaction {
  return {
    transaction: {
      signatures: [SIGNATURE],
      accountKeys: accounts.map(([pubkey, role]) => ({ pubkey, signer: role === 's', writable: role !== 'r' })),
    },
    meta: {
      err: null,
      fee: 5_000,
      preBalances: accounts.map(([, , pre]) => pre),
      postBalances: accounts.map(([, , , post]) => post),
      preTokenBalances: [],
      postTokenBalances: [],
      ...change,
    },
  }
}

function tokens(accountIndex: number, owner: string, amount: string, change: Partial<TokenBalance> = {}): TokenBalance {
  const uiTokenAmount = { amount, decimals: 6 }
  return { accountIndex, mint: USDC, owner, programId: TOKEN_PROGRAM, uiTokenAmount, ...change }
}

const extract = (...transactions: Transaction[]) =>
  transfersOf({ keyPrefix: 'test:solana', nativeAsset: 'sol_solana', mints }, transactions, watches)
const amounts = (...transactions: Transaction[]) =>
  extract(...transactions).map(({ asset, amountBase, toAddress }) => [asset, amountBase, toAddress])
const unreliable = expect.objectContaining({ name: 'NodeUnreliable' })

const payment = made([
  [PAYER, 's', 2_000_000, 995_000],
  [OURS, 'w', 0, 1_000_000],
  [key(0), 'r', 1, 1],
  [REFERENCE, 'r', 0, 0],
])
const tokenAccounts: readonly Account[] = [
  [PAYER, 's', 9_000_000, 8_995_000],
  [PAYER_ATA, 'w', 2_039_280, 2_039_280],
  [OURS_ATA, 'w', 2_039_280, 2_039_280],
]
const tokenPayment = (change: Partial<Transaction['meta']> = {}) =>
  made(tokenAccounts, {
    preTokenBalances: [tokens(1, PAYER, '5000000'), tokens(2, OURS, '100')],
    postTokenBalances: [tokens(1, PAYER, '3500000'), tokens(2, OURS, '1500100')],
    ...change,
  })

describe('coins', () => {
  it('are what an account gained, with the payer, the key and the accounts only named', () => {
    expect(extract(payment)).toEqual([
      {
        key: `test:solana:${SIGNATURE}:${OURS}:SOL`,
        matchKey: '02'.repeat(32),
        toAddress: OURS,
        fromAddress: PAYER,
        asset: 'sol_solana',
        contract: null,
        amountBase: 1_000_000n,
        txHash: SIGNATURE,
        outputIndex: null,
        references: ['00'.repeat(32), '08'.repeat(32)],
      },
    ])
  })

  describe('of a token account that is closed', () => {
    const RENT = 2_039_280
    const closing = (accounts: readonly Account[], before: readonly TokenBalance[]) =>
      made([[PAYER, 's', 9_000_000, 9_000_000 - 5_000], ...accounts], { preTokenBalances: [...before] })
    const ours = tokens(2, OURS, '0')

    // Guarantee: rent that comes back to its owner pays no invoice.
    it('are no payment to its owner, whoever pays the fee', () => {
      expect(
        amounts(
          closing(
            [
              [OURS, 'w', 7, 7 + RENT],
              [OURS_ATA, 'w', RENT, 0],
            ],
            [ours],
          ),
        ),
      ).toEqual([])
      const own = made(
        [
          [OURS, 's', 10_000, 5_000 + RENT],
          [OURS_ATA, 'w', RENT, 0],
        ],
        { preTokenBalances: [tokens(1, OURS, '0')] },
      )
      expect(amounts(own)).toEqual([])
    })

    it('do not hide what is sent in the same transaction, nor who sent it', () => {
      const both = made(
        [
          [PAYER, 's', 9_000_000, 9_000_000 - 5_000 - 1_000_000],
          [OURS, 'w', 7, 7 + RENT + 1_000_000],
          [OURS_ATA, 'w', RENT, 0],
        ],
        { preTokenBalances: [ours] },
      )
      expect(extract(both)).toMatchObject([{ amountBase: 1_000_000n, fromAddress: PAYER }])
    })

    it('are none either with the wrapped coins that it held, or from several accounts at once', () => {
      const wrapped = tokens(2, OURS, '5000000000', { mint: WSOL })
      const gained = RENT + 5_000_000_000 + RENT
      const accounts: readonly Account[] = [
        [OURS, 'w', 0, gained],
        [OURS_ATA, 'w', RENT + 5_000_000_000, 0],
        [AUXILIARY, 'w', RENT, 0],
      ]
      expect(amounts(closing(accounts, [wrapped, tokens(3, OURS, '0', { programId: TOKEN_2022 })]))).toEqual([])
    })

    it('are a payment when the account was somebody else’s', () => {
      const theirs = closing(
        [
          [OURS, 'w', 0, RENT],
          [PAYER_ATA, 'w', RENT, 0],
        ],
        [tokens(2, PAYER, '0')],
      )
      expect(amounts(theirs)).toEqual([['sol_solana', BigInt(RENT), OURS]])
    })

    it('that went to somebody else take nothing from what was sent less than they were', () => {
      const accounts: readonly Account[] = [
        [OURS, 'w', 0, 1_000],
        [OURS_ATA, 'w', RENT, 0],
        [AUXILIARY, 'w', 0, RENT - 1_000],
      ]
      expect(amounts(closing(accounts, [ours]))).toEqual([])
    })

    // Guarantee: an answer without the owner of a closed account decides nothing.
    it('of an unknown owner are unclear', () => {
      const unknown = closing(
        [
          [OURS, 'w', 0, RENT],
          [OURS_ATA, 'w', RENT, 0],
        ],
        [{ ...ours, owner: undefined }],
      )
      expect(() => extract(unknown)).toThrow(unreliable)
    })
  })

  it('gained by the owner who pays the fee are counted without it', () => {
    const gained = made([
      [OURS, 's', 10_000, 1_005_000],
      [PAYER, 's', 2_000_000, 1_000_000],
    ])
    expect(amounts(gained)).toEqual([['sol_solana', 1_000_000n, OURS]])
    // Guarantee: whoever only paid a fee or moved coins away is not credited.
    expect(amounts(made([[OURS, 's', 10_000, 5_000]]))).toEqual([])
    expect(
      amounts(
        made([
          [OURS, 's', 10_000, 2_000],
          [PAYER, 'w', 0, 3_000],
        ]),
      ),
    ).toEqual([])
  })

  it('that two watched owners gain in one transaction are two transfers', () => {
    const both = made([
      [PAYER, 's', 9_000_000, 8_994_995],
      [OURS, 'w', 0, 2],
      [OURS_TOO, 'w', 1, 4],
    ])
    expect(amounts(both)).toEqual([
      ['sol_solana', 2n, OURS],
      ['sol_solana', 3n, OURS_TOO],
    ])
    expect(new Set(extract(both).map(({ key }) => key)).size).toBe(2)
  })

  it('of several payers have no single sender', () => {
    const shared = made([
      [PAYER, 's', 9_000_000, 8_994_999],
      [key(12), 's', 10, 9],
      [OURS, 'w', 0, 2],
    ])
    expect(extract(shared)).toMatchObject([{ amountBase: 2n, fromAddress: null }])
  })

  // Guarantee: an amount is exact or it is not taken.
  it('beyond what a JSON number holds exactly are refused, but a stranger’s wealth stops nothing', () => {
    const large = 2 ** 53
    expect(() =>
      extract(
        made([
          [PAYER, 's', 1, 1],
          [OURS, 'w', large, large],
        ]),
      ),
    ).toThrow(unreliable)
    expect(
      amounts(
        made([
          [PAYER, 's', large * 4, large * 2],
          [OURS, 'w', 0, 7],
        ]),
      ),
    ).toEqual([['sol_solana', 7n, OURS]])
    const exact = Number.MAX_SAFE_INTEGER
    expect(
      amounts(
        made([
          [PAYER, 's', 1, 1],
          [OURS, 'w', 0, exact],
        ]),
      ),
    ).toEqual([['sol_solana', BigInt(exact), OURS]])
  })
})

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
