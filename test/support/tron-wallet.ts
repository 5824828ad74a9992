import type { Page } from 'playwright-core'
import type { UnsignedTransfer } from '#shared/chains/families/tron/transfer-message.ts'
import { type TronPayer, tronPayer } from './tron-payer.ts'

/** A wallet in the page, and what a test makes of it. */
export interface TronWallet {
  readonly payer: TronPayer
  /** Methods that the page called, `sign` among them, the oldest first. */
  readonly calls: string[]
  /** The chain that it is on, and those that it can switch to. */
  chain: string
  readonly chains: string[]
  /** Throws what a wallet throws, or lets a call happen. */
  refuse: ((method: string) => { readonly message: string; readonly code?: number } | null) | null
  /** What a hostile wallet returns instead of what it was asked to sign; null for an honest one. */
  betray: ((input: UnsignedTransfer) => unknown) | null
}

interface Call {
  readonly method: string
  readonly params?: readonly unknown[]
}

/**
 * Puts a wallet into the page as TronLink does: it announces itself as TIP-6963 says, shows its library once an account is shared, and only
 * signs. Its key is in this process. `lateMs`: it comes that long after the page.
 */
export async function injectTronWallet(
  page: Page,
  info: { readonly uuid: string; readonly name: string; readonly icon?: string },
  { chain, lateMs = 0 }: { readonly chain: string; readonly lateMs?: number },
): Promise<TronWallet> {
  const payer = tronPayer()
  const wallet: TronWallet = { payer, calls: [], chain, chains: [], refuse: null, betray: null }

  function answer({ method, params = [] }: Call): unknown {
    wallet.calls.push(method)
    const refusal = wallet.refuse?.(method) ?? null
    if (refusal !== null) return { error: refusal }
    const [first] = params
    if (method === 'eth_requestAccounts') return { result: [payer.account] }
    if (method === 'eth_chainId') return { result: wallet.chain }
    if (method === 'wallet_switchEthereumChain') {
      const { chainId } = first as { readonly chainId: string }
      if (!wallet.chains.includes(chainId)) return { error: { code: 4902, message: 'Invalid chainId' } }
      wallet.chain = chainId
      return { result: null }
    }
    if (method !== 'sign') return { error: { code: 4200, message: 'Method not supported' } }
    const transaction = first as UnsignedTransfer
    if (wallet.betray !== null) return { result: wallet.betray(transaction) }
    return { result: { ...transaction, signature: [payer.sign(transaction)] } }
  }

  const name = `tron_${info.uuid.replaceAll('-', '')}`
  await page.exposeFunction(name, (call: Call) => answer(call))
  await page.addInitScript(`{
    const call = async (method, params) => {
      const { result, error } = await window[${JSON.stringify(name)}]({ method, params })
      if (error === undefined) return result
      throw Object.assign(new Error(error.message), error.code === undefined ? {} : { code: error.code })
    }
    let tronWeb = false
    const library = (base58) => ({ defaultAddress: { base58 }, trx: { sign: (transaction) => call('sign', [transaction]) } })
    const provider = {
      isTronLink: true,
      get tronWeb() { return tronWeb },
      request: async ({ method, params }) => {
        const result = await call(method, params)
        if (method === 'eth_requestAccounts') setTimeout(() => { tronWeb = library(result[0]) }, 100)
        return result
      },
    }
    const detail = Object.freeze({ info: ${JSON.stringify({ icon: '', rdns: 'org.tronlink.www', ...info })}, provider })
    const announce = () => window.dispatchEvent(new CustomEvent('TIP6963:announceProvider', { detail }))
    const begin = () => {
      window.addEventListener('TIP6963:requestProvider', announce)
      announce()
    }
    ${lateMs === 0 ? 'begin()' : `setTimeout(begin, ${lateMs})`}
  }`)
  return wallet
}
