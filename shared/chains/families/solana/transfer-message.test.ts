import { Keypair, PublicKey, SystemProgram, Transaction } from '@solana/web3.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ASSETS } from '#shared/chains/definitions/assets.ts'
import { TOKEN_PROGRAM } from './extract.ts'
import { associatedAccount, transferTransaction } from './transfer-message.ts'

const ASSOCIATED = new PublicKey('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL')
const MINT = ASSETS.usdc_solana.contract ?? ''
const key = () => Keypair.generate().publicKey.toBase58()
const transfer = (change: object = {}) => ({
  ...{ from: key(), to: key(), mint: null, amountBase: 5_000_000n, reference: key(), blockhash: key() },
  ...change,
})
const read = (bytes: Uint8Array) => Transaction.from(bytes)

describe('the transaction for a payer’s wallet', () => {
  it('moves coins from the payer alone, and names the invoice', () => {
    const order = transfer()
    const made = read(transferTransaction(order))
    expect(made.feePayer?.toBase58()).toBe(order.from)
    expect(made.recentBlockhash).toBe(order.blockhash)
    expect(made.signatures).toMatchObject([{ signature: null }])
    const [from, to, reference] = [order.from, order.to, order.reference].map((text) => new PublicKey(text))
    if (from === undefined || to === undefined || reference === undefined) throw new Error('no keys')
    const expected = SystemProgram.transfer({ fromPubkey: from, toPubkey: to, lamports: order.amountBase })
    expected.keys.push({ pubkey: reference, isSigner: false, isWritable: false })
    expect(made.instructions).toHaveLength(1)
    expect(made.instructions[0]?.data).toEqual(expected.data)
    expect(made.instructions[0]?.programId.equals(SystemProgram.programId)).toBe(true)
    expect(
      made.instructions[0]?.keys.map(({ pubkey, isSigner, isWritable }) => [pubkey.toBase58(), isSigner, isWritable]),
    ).toEqual([
      [order.from, true, true],
      [order.to, false, true],
      [order.reference, false, false],
    ])
  })

  it('moves a token between the accounts that the library derives, with amount and decimals', () => {
    const order = transfer({ mint: { address: MINT, decimals: 6 }, amountBase: 1_234_567n })
    const [create, move] = read(transferTransaction(order)).instructions
    expect(create?.programId.equals(ASSOCIATED)).toBe(true)
    expect([...(create?.data ?? [])]).toEqual([1])
    expect(move?.programId.toBase58()).toBe(TOKEN_PROGRAM)
    expect(move?.data.readBigUInt64LE(1)).toBe(1_234_567n)
    expect([move?.data[0], move?.data[9]]).toEqual([12, 6])
    expect(move?.keys.map(({ pubkey, isSigner }) => [pubkey.toBase58(), isSigner])).toEqual([
      [associatedAccount(order.from, MINT), false],
      [MINT, false],
      [associatedAccount(order.to, MINT), false],
      [order.from, true],
      [order.reference, false],
    ])
  })

  // Guarantee: coins go to the account that wallets and exchanges compute, never to one that nobody has.
  it('derives token accounts as the library of Solana does', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
        const owner = new PublicKey(bytes)
        const seeds = [owner.toBytes(), new PublicKey(TOKEN_PROGRAM).toBytes(), new PublicKey(MINT).toBytes()]
        const [expected] = PublicKey.findProgramAddressSync(seeds, ASSOCIATED)
        expect(associatedAccount(owner.toBase58(), MINT)).toBe(expected.toBase58())
      }),
      { numRuns: 100 },
    )
  })

  it('is the same bytes that the library writes, also for payments to oneself', () => {
    for (const order of [
      transfer(),
      transfer({ mint: { address: MINT, decimals: 6 } }),
      transfer({ reference: null }),
    ]) {
      for (const one of [order, { ...order, to: order.from }]) {
        const bytes = Buffer.from(transferTransaction(one))
        const again = read(bytes).serialize({ requireAllSignatures: false, verifySignatures: false })
        expect(read(again).compileMessage().serialize().toString('hex')).toBe(
          read(bytes).compileMessage().serialize().toString('hex'),
        )
        expect(again.length).toBe(bytes.length)
      }
    }
  })

  it.each([
    ['no key', 'x'],
    ['a key of 31 bytes', 'a'.repeat(42)],
  ])('refuses %s', (_what, from) => {
    expect(() => transferTransaction(transfer({ from }))).toThrow()
  })
})
