import { Transaction, Wallet } from 'ethers'
import type { Page } from 'playwright-core'
import { nodeRpc, quantity } from '#dev/local-chain/node-rpc.ts'
import { DEVELOPMENT_PAYER } from '#dev/local-chain/pay.ts'

/** A wallet with its own key that signs real transactions for a development chain, and what a test makes of it. */
export interface SigningWallet {
  readonly address: string
  /** Every call of the page, the oldest first. */
  readonly calls: readonly { readonly method: string; readonly params: readonly unknown[] }[]
  /** Chains that it knows; it starts on the first. */
  readonly chains: number[]
  /** Throws the code of a call, or lets it happen. */
  refuse: ((method: string) => number | null) | null
}

interface Call {
  readonly method: string
  readonly params?: readonly Readonly<Record<string, string>>[]
}

const FAUCET_BASE = 10n ** 20n

/**
 * Puts a wallet into the page as an extension does: it announces itself as EIP-6963 says, and a request reaches this process, where its
 * key is. `token` is minted to it.
 */
export async function injectSigningWallet(
  page: Page,
  info: { readonly uuid: string; readonly name: string; readonly icon: string },
  { rpcUrl, token }: { readonly rpcUrl: string; readonly token: string },
): Promise<SigningWallet> {
  const key = Wallet.createRandom()
  await nodeRpc(rpcUrl, 'anvil_setBalance', [key.address, quantity(FAUCET_BASE)])
  const mint = `0x40c10f19${key.address.slice(2).padStart(64, '0')}${FAUCET_BASE.toString(16).padStart(64, '0')}`
  await nodeRpc(rpcUrl, 'eth_sendTransaction', [
    { from: DEVELOPMENT_PAYER, gas: quantity(200_000), to: token, data: mint },
  ])
  const calls: { method: string; params: readonly unknown[] }[] = []
  const wallet: SigningWallet = { address: key.address, calls, chains: [1], refuse: null }
  let chain = 1

  async function answer({ method, params = [] }: Call): Promise<unknown> {
    calls.push({ method, params })
    const code = wallet.refuse?.(method) ?? null
    if (code !== null) return { error: code }
    const [first = {}] = params
    if (method === 'eth_requestAccounts') return { result: [key.address] }
    if (method === 'eth_chainId') return { result: quantity(chain) }
    if (method === 'wallet_addEthereumChain') {
      wallet.chains.push(Number(first['chainId']))
      return { result: null }
    }
    if (method === 'wallet_switchEthereumChain') {
      if (!wallet.chains.includes(Number(first['chainId']))) return { error: 4902 }
      chain = Number(first['chainId'])
      return { result: null }
    }
    if (method !== 'eth_sendTransaction') return { error: 4200 }
    return { result: await send(first) }
  }

  async function send({ to, data, value, chainId }: Readonly<Record<string, string>>): Promise<unknown> {
    const nonce = Number(await nodeRpc(rpcUrl, 'eth_getTransactionCount', [key.address, 'pending']))
    const signed = await key.signTransaction(
      Transaction.from({
        ...{ type: 2, chainId: Number(chainId), nonce, to: to ?? null, data: data ?? '0x', value: BigInt(value ?? 0) },
        ...{ gasLimit: 200_000n, maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 10n ** 9n },
      }),
    )
    return await nodeRpc(rpcUrl, 'eth_sendRawTransaction', [signed])
  }

  const name = `wallet_${info.uuid.replaceAll('-', '')}`
  await page.exposeFunction(name, async (call: Call) => await answer(call))
  await page.addInitScript(`{
    const provider = { request: async (call) => {
      const { result, error } = await window[${JSON.stringify(name)}](call)
      if (error !== undefined) throw Object.assign(new Error('refused'), { code: error })
      return result
    } }
    const detail = Object.freeze({ info: ${JSON.stringify(info)}, provider })
    const announce = () => window.dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }))
    window.addEventListener('eip6963:requestProvider', announce)
    announce()
  }`)
  return wallet
}
