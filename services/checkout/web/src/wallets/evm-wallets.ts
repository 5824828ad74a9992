import type { PaymentMethodView } from '#shared/contracts/checkout/invoice-view.ts'
import { announcedWallets, type Provider } from './announced-wallets.ts'
import { codeOf, type PayerWallet, sendProblem, WalletProblem } from './payer-wallet.ts'

/** The wallet has never heard of the chain (EIP-3326). */
const UNKNOWN_CHAIN = 4902
const ACCOUNT = /^0x[0-9a-f]{40}$/i
const TX_HASH = /^0x[0-9a-f]{64}$/i
/** `transfer(address,uint256)` of ERC-20. */
const TRANSFER = 'a9059cbb'

/** Shows the wallets that announce themselves (EIP-6963), and the one in `window.ethereum` where none does. Returns how to stop. */
export function findEvmWallets(show: (wallets: readonly PayerWallet[]) => void): () => void {
  const { ethereum } = globalThis as { readonly ethereum?: Provider }
  return announcedWallets('eip6963', ethereum, payWith, show)
}

const payWith =
  (provider: Provider): PayerWallet['pay'] =>
  async (paymentMethod, sent) => {
    const { evm } = paymentMethod
    if (evm === null) throw new WalletProblem('wallet.noNetwork')
    const from = await accountOf(provider)
    await goTo(provider, evm)
    const chainId = hexOf(evm.chainId)
    const sending = provider.request({
      method: 'eth_sendTransaction',
      params: [{ from, chainId, ...transferCall(paymentMethod) }],
    })
    const txHash = await sending.catch((error: unknown) => {
      throw sendProblem(error)
    })
    if (typeof txHash !== 'string' || !TX_HASH.test(txHash)) throw new WalletProblem('wallet.unclear')
    sent(txHash.toLowerCase())
  }

async function accountOf(provider: Provider): Promise<string> {
  const accounts = await provider.request({ method: 'eth_requestAccounts' }).catch((error: unknown) => {
    throw new WalletProblem(codeOf(error) === 4001 ? 'wallet.refused' : 'wallet.noAccount', { cause: error })
  })
  const [first] = Array.isArray(accounts) ? (accounts as readonly unknown[]) : []
  if (typeof first !== 'string' || !ACCOUNT.test(first)) throw new WalletProblem('wallet.noAccount')
  return first
}

/** Has the wallet use the invoice's chain, and adds it where the wallet lacks it. Throws unless the wallet then says that it does. */
async function goTo(provider: Provider, evm: NonNullable<PaymentMethodView['evm']>): Promise<void> {
  const isThere = async () => Number(await provider.request({ method: 'eth_chainId' })) === evm.chainId
  try {
    if (await isThere()) return
    const chainId = hexOf(evm.chainId)
    const enter = () => provider.request({ method: 'wallet_switchEthereumChain', params: [{ chainId }] })
    const missing = await enter().then(
      () => false,
      (error: unknown) => codeOf(error) === UNKNOWN_CHAIN,
    )
    if (missing) {
      if (evm.addition === null) throw new WalletProblem('wallet.noNetwork')
      await provider.request({ method: 'wallet_addEthereumChain', params: [additionOf(chainId, evm.addition)] })
      // Some wallets enter a network that they add, others ask again.
      if (!(await isThere())) await enter()
    }
    if (await isThere()) return
  } catch (error) {
    throw error instanceof WalletProblem ? error : new WalletProblem('wallet.wrongNetwork', { cause: error })
  }
  throw new WalletProblem('wallet.wrongNetwork')
}

/** EIP-3085. Every URL is a public one of the network's definition. */
function additionOf(
  chainId: string,
  { name, rpcUrl, explorerUrl, coin }: NonNullable<NonNullable<PaymentMethodView['evm']>['addition']>,
) {
  return {
    chainId,
    chainName: name,
    nativeCurrency: { name: coin, symbol: coin, decimals: 18 },
    rpcUrls: [rpcUrl],
    blockExplorerUrls: [explorerUrl],
  }
}

/** The call that sends exactly the remaining amount. */
function transferCall(paymentMethod: PaymentMethodView): Readonly<Record<string, string>> {
  const amount = BigInt(paymentMethod.remainingBase)
  const contract = paymentMethod.evm?.contract ?? null
  if (contract === null) return { to: paymentMethod.address, value: hexOf(amount) }
  const to = paymentMethod.address.slice(2).toLowerCase().padStart(64, '0')
  return { to: contract, value: '0x0', data: `0x${TRANSFER}${to}${amount.toString(16).padStart(64, '0')}` }
}

const hexOf = (value: number | bigint): string => `0x${value.toString(16)}`
