import { createHash } from 'node:crypto'
import { Keypair, PublicKey, SystemProgram, Transaction, type TransactionInstruction } from '@solana/web3.js'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { type SurfpoolNode, startSurfpoolNode } from '#dev/local-chain/surfpool-node.ts'
import { createChainClient, type OpenChainClient } from '#shared/chains/create-chain-client.ts'
import { ASSETS } from '#shared/chains/definitions/assets.ts'
import { matchKeyOf } from '#shared/chains/families/solana/extract.ts'
import { createWatchIndex } from '#shared/chains/families/watch-index.ts'

const PATIENCE = { timeout: 20_000, interval: 50 }
const TOKEN_PROGRAM = new PublicKey('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA')
const ASSOCIATED = new PublicKey('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL')
/** `CloseAccount` of the SPL Token program. */
const CLOSE_ACCOUNT = 9

let node: SurfpoolNode
let client: OpenChainClient
beforeAll(async () => {
  node = await startSurfpoolNode({ slotTimeMs: 50 })
  const silent = { count: () => {}, gauge: () => {}, observe: () => {} }
  const settings = { live: {}, test: { solana: { rpcUrls: [node.url], genesis: 'any' } } }
  const opened = createChainClient(settings, 'test', 'solana', silent)
  if (opened === null) throw new Error('no client')
  client = opened
})
afterAll(async () => {
  await client.close()
  await node.stop()
})

const payer = Keypair.fromSeed(createHash('sha256').update('paymesh development payer').digest())

async function send(signers: readonly Keypair[], ...instructions: TransactionInstruction[]): Promise<string> {
  const latest = (await node.rpc('getLatestBlockhash', [{ commitment: 'confirmed' }])) as {
    value: { blockhash: string }
  }
  const transaction = new Transaction().add(...instructions)
  transaction.feePayer = payer.publicKey
  transaction.recentBlockhash = latest.value.blockhash
  transaction.sign(payer, ...signers)
  const encoded = transaction.serialize().toString('base64')
  return String(await node.rpc('sendTransaction', [encoded, { encoding: 'base64' }]))
}

/** What a scan finds for an owner in one transaction, once that is in a block. */
async function found(owner: PublicKey, txHash: string) {
  const watches = createWatchIndex()
  watches.add(matchKeyOf(owner.toBase58()))
  return vi.waitFor(async () => {
    const place = await client.locate?.(txHash)
    if (typeof place !== 'object' || place === null) throw new Error('in no block yet')
    expect(place.succeeded).toBe(true)
    const blocks = await client.scan(place.height, place.height, watches)
    const transfers = blocks.flatMap((block) => block.transfers)
    return transfers.filter((one) => one.txHash === txHash).map(({ asset, amountBase }) => [asset, amountBase])
  }, PATIENCE)
}

// Guarantee: the rent that a real node hands back pays no invoice, and money sent beside it counts to the lamport.
it('credits what is sent and not the rent of a token account that the same transaction closes', async () => {
  const owner = Keypair.generate()
  const mint = ASSETS.usdc_solana.contract
  await node.pay({ asset: 'sol_solana', to: owner.publicKey.toBase58(), amountBase: 10_000_000n })
  await node.pay({ asset: 'usdc_solana', to: owner.publicKey.toBase58(), amountBase: 5n })
  const account = (seed: PublicKey) =>
    PublicKey.findProgramAddressSync(
      [seed.toBytes(), TOKEN_PROGRAM.toBytes(), new PublicKey(mint).toBytes()],
      ASSOCIATED,
    )[0]
  const ours = account(owner.publicKey)
  await vi.waitFor(async () => {
    const info = (await node.rpc('getAccountInfo', [ours.toBase58(), { encoding: 'base64' }])) as { value: unknown }
    expect(info.value).not.toBeNull()
  }, PATIENCE)
  await node.rpc('surfnet_setTokenAccount', [owner.publicKey.toBase58(), mint, { amount: 0 }])
  const close: TransactionInstruction = {
    programId: TOKEN_PROGRAM,
    keys: [
      { pubkey: ours, isSigner: false, isWritable: true },
      { pubkey: owner.publicKey, isSigner: false, isWritable: true },
      { pubkey: owner.publicKey, isSigner: true, isWritable: false },
    ],
    data: Buffer.of(CLOSE_ACCOUNT),
  }
  const pay = SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: owner.publicKey, lamports: 1_234_567 })
  const both = await send([owner], close, pay)
  expect(await found(owner.publicKey, both)).toEqual([['sol_solana', 1_234_567n]])
})
