import { createHash, randomInt } from 'node:crypto'
import { nodeRpc } from './node-rpc.ts'

const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
const ASSOCIATED_TOKEN_PROGRAM = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL'
/** Instruction numbers: CreateIdempotent of the associated token program, TransferChecked of the token program. */
const CREATE_IDEMPOTENT = 1
const TRANSFER_CHECKED = 12

/** Balance given to the payer before each payment: far more than any test spends. */
const PAYER_LAMPORTS = 1_000_000_000_000_000
const PAYER_TOKENS = 1_000_000_000_000_000

/** A transfer on a Surfpool node; `mint` null moves SOL. */
export interface SolanaPayment {
  readonly rpcUrl: string
  readonly mint: { readonly address: string; readonly decimals: number } | null
  /** The owner, not a token account, which is created when missing. */
  readonly to: string
  readonly amountBase: bigint
  /** Read-only accounts in the transfer, such as Solana Pay's references. */
  readonly references?: readonly string[]
}

/**
 * Sends a real transfer from a development payer with a public key pair, after funding the payer:
 * works only on Surfpool. Resolves when the transaction is accepted, not when it is in a block.
 */
export async function payOnSolana(payment: SolanaPayment): Promise<{ readonly txHash: string }> {
  // Loaded on use: loading the library takes longer than most commands.
  const web3 = await import('@solana/web3.js')
  const { rpcUrl, mint, amountBase } = payment
  const payer = web3.Keypair.fromSeed(createHash('sha256').update('paymesh development payer').digest())
  const from = payer.publicKey
  const to = new web3.PublicKey(payment.to)
  const references = (payment.references ?? []).map((key) => account(new web3.PublicKey(key)))
  await nodeRpc(rpcUrl, 'surfnet_setAccount', [from.toBase58(), { lamports: PAYER_LAMPORTS }])

  const transaction = new web3.Transaction()
  // Without it, two equal payments in a row would be one transaction.
  transaction.add(web3.SystemProgram.transfer({ fromPubkey: from, toPubkey: from, lamports: randomInt(2 ** 40) }))
  if (mint === null) {
    const transfer = web3.SystemProgram.transfer({ fromPubkey: from, toPubkey: to, lamports: amountBase })
    transfer.keys.push(...references)
    transaction.add(transfer)
  } else {
    await nodeRpc(rpcUrl, 'surfnet_setTokenAccount', [from.toBase58(), mint.address, { amount: PAYER_TOKENS }])
    const mintKey = new web3.PublicKey(mint.address)
    const tokenProgram = new web3.PublicKey(TOKEN_PROGRAM)
    const associated = new web3.PublicKey(ASSOCIATED_TOKEN_PROGRAM)
    const tokenAccount = (owner: typeof from) =>
      web3.PublicKey.findProgramAddressSync([owner.toBytes(), tokenProgram.toBytes(), mintKey.toBytes()], associated)[0]
    const create = [account(from, 'signs'), account(tokenAccount(to), 'changes'), account(to), account(mintKey)]
    transaction.add({
      programId: associated,
      keys: [...create, account(web3.SystemProgram.programId), account(tokenProgram)],
      data: Buffer.of(CREATE_IDEMPOTENT),
    })
    const move = [account(tokenAccount(from), 'changes'), account(mintKey), account(tokenAccount(to), 'changes')]
    transaction.add({
      programId: tokenProgram,
      keys: [...move, account(from, 'signs'), ...references],
      data: transferChecked(amountBase, mint.decimals),
    })
  }
  transaction.feePayer = from
  transaction.recentBlockhash = await latestBlockhash(rpcUrl)
  transaction.sign(payer)
  const encoded = transaction.serialize().toString('base64')
  return { txHash: String(await nodeRpc(rpcUrl, 'sendTransaction', [encoded, { encoding: 'base64' }])) }
}

function account<Key>(pubkey: Key, role?: 'signs' | 'changes') {
  return { pubkey, isSigner: role === 'signs', isWritable: role !== undefined }
}

function transferChecked(amountBase: bigint, decimals: number): Buffer {
  const data = Buffer.alloc(10)
  data[0] = TRANSFER_CHECKED
  data.writeBigUInt64LE(amountBase, 1)
  data[9] = decimals
  return data
}

async function latestBlockhash(rpcUrl: string): Promise<string> {
  const answer = (await nodeRpc(rpcUrl, 'getLatestBlockhash', [{ commitment: 'confirmed' }])) as {
    value: { blockhash: string }
  }
  return answer.value.blockhash
}
