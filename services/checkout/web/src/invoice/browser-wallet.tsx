import { useState } from 'preact/hooks'
import type { PaymentMethodView } from '#shared/contracts/checkout/invoice-view.ts'
import { NETWORKS } from '#shared/domain/networks.ts'
import type { MessageKey } from '../locales/en.ts'
import { useSpeech } from '../locales/locale.tsx'
import { Icon } from '../parts/icon.tsx'

/** A wallet that injects itself into pages (EIP-1193). */
interface Provider {
  request(call: { readonly method: string; readonly params?: readonly unknown[] }): Promise<unknown>
}

const providerOf = (): Provider | null => (globalThis as { readonly ethereum?: Provider }).ethereum ?? null

/** `transfer(address,uint256)` of ERC-20. */
const TRANSFER = 'a9059cbb'

/** The call that sends exactly the remaining amount. */
export function transferCall(
  lock: Pick<PaymentMethodView, 'address' | 'remainingBase' | 'evm'>,
): Readonly<Record<string, string>> {
  const amount = BigInt(lock.remainingBase).toString(16)
  const contract = lock.evm?.contract ?? null
  if (contract === null) return { to: lock.address, value: `0x${amount}` }
  const to = lock.address.slice(2).toLowerCase().padStart(64, '0')
  return { to: contract, value: '0x0', data: `0x${TRANSFER}${to}${amount.padStart(64, '0')}` }
}

/** A button for a wallet in this browser; nothing if there is none. It sends only on the invoice's own chain. */
export function BrowserWallet({ lock }: { readonly lock: PaymentMethodView }) {
  const { say } = useSpeech()
  const [state, setState] = useState<MessageKey | null>(null)
  const provider = providerOf()
  const { evm } = lock
  if (provider === null || evm === null) return null
  const isBusy = state === 'wallet.waiting'

  async function pay(wallet: Provider, chainId: number): Promise<void> {
    setState('wallet.waiting')
    const chain = `0x${chainId.toString(16)}`
    try {
      const accounts = (await wallet.request({ method: 'eth_requestAccounts' })) as readonly string[]
      await wallet
        .request({ method: 'wallet_switchEthereumChain', params: [{ chainId: chain }] })
        .catch(() => undefined)
      if (Number(await wallet.request({ method: 'eth_chainId' })) !== chainId) {
        setState('wallet.wrongNetwork')
        return
      }
      await wallet.request({ method: 'eth_sendTransaction', params: [{ from: accounts[0], ...transferCall(lock) }] })
      setState('wallet.sent')
    } catch {
      setState('wallet.refused')
    }
  }

  return (
    <div class="wallet">
      <button
        type="button"
        class="button main"
        aria-disabled={isBusy || state === 'wallet.sent'}
        onClick={() => {
          if (!isBusy && state !== 'wallet.sent') void pay(provider, evm.chainId)
        }}
      >
        <Icon name="wallet" />
        {say('wallet.browser')}
      </button>
      {state !== null && <p role="alert">{say(state, { n: NETWORKS[lock.network].name })}</p>}
    </div>
  )
}
