import { base58 } from '@scure/base'
import { expect } from 'vitest'
import { createWatchIndex } from '../watch-index.ts'
import { type KnownMint, matchKeyOf, TOKEN_PROGRAM, transfersOf } from './extract.ts'
import type { TokenBalance, Transaction } from './wire.ts'

export const key = (fill: number) => base58.encode(new Uint8Array(32).fill(fill))
export const SIGNATURE = base58.encode(new Uint8Array(64).fill(7))
export const PAYER = key(1)
export const OURS = key(2)
export const OURS_TOO = key(3)
export const PAYER_ATA = key(4)
export const OURS_ATA = key(5)
export const AUXILIARY = key(6)
export const REFERENCE = key(8)
export const OTHER_REFERENCE = key(9)
export const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
export const WSOL = 'So11111111111111111111111111111111111111112'
export const TOKEN_2022 = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb'
export const LOOK_ALIKE = key(11)

export const mints = new Map<string, KnownMint>([
  [USDC, { asset: 'usdc_solana', decimals: 6 }],
  [WSOL, { asset: null, decimals: null }],
])
export const watches = createWatchIndex()
for (const owner of [OURS, OURS_TOO]) watches.add(matchKeyOf(owner))

export type Account = readonly [pubkey: string, role: 's' | 'w' | 'r', pre: number, post: number]

/** A transaction whose first account pays a fee of 5,000 lamports. */
export function made(accounts: readonly Account[], change: Partial<Transaction['meta']> = {}): Transaction {
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

export function tokens(
  accountIndex: number,
  owner: string,
  amount: string,
  change: Partial<TokenBalance> = {},
): TokenBalance {
  const uiTokenAmount = { amount, decimals: 6 }
  return { accountIndex, mint: USDC, owner, programId: TOKEN_PROGRAM, uiTokenAmount, ...change }
}

export const extract = (...transactions: Transaction[]) =>
  transfersOf({ keyPrefix: 'test:solana', nativeAsset: 'sol_solana', mints }, transactions, watches)
export const amounts = (...transactions: Transaction[]) =>
  extract(...transactions).map(({ asset, amountBase, toAddress }) => [asset, amountBase, toAddress])
export const unreliable = expect.objectContaining({ name: 'NodeUnreliable' })

export const payment = made([
  [PAYER, 's', 2_000_000, 995_000],
  [OURS, 'w', 0, 1_000_000],
  [key(0), 'r', 1, 1],
  [REFERENCE, 'r', 0, 0],
])
export const tokenAccounts: readonly Account[] = [
  [PAYER, 's', 9_000_000, 8_995_000],
  [PAYER_ATA, 'w', 2_039_280, 2_039_280],
  [OURS_ATA, 'w', 2_039_280, 2_039_280],
]
export const tokenPayment = (change: Partial<Transaction['meta']> = {}) =>
  made(tokenAccounts, {
    preTokenBalances: [tokens(1, PAYER, '5000000'), tokens(2, OURS, '100')],
    postTokenBalances: [tokens(1, PAYER, '3500000'), tokens(2, OURS, '1500100')],
    ...change,
  })
