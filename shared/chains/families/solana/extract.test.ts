import { describe, expect, it } from 'vitest'
import {
  type Account,
  AUXILIARY,
  amounts,
  extract,
  key,
  made,
  OURS,
  OURS_ATA,
  OURS_TOO,
  PAYER,
  PAYER_ATA,
  payment,
  SIGNATURE,
  TOKEN_2022,
  tokens,
  unreliable,
  WSOL,
} from './extract.fixture.ts'
import type { TokenBalance } from './wire.ts'

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
