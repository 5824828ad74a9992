import { type PayerWallet, walletIcon, walletList, walletName } from './payer-wallet.ts'

/** A wallet that injects itself into pages (EIP-1193, TIP-1193); nothing of it is trusted. */
export interface Provider {
  request(call: { readonly method: string; readonly params?: readonly unknown[] }): Promise<unknown>
}

/** What a wallet announces about itself. */
interface Announcement<P> {
  readonly info?: { readonly uuid?: unknown; readonly name?: unknown; readonly icon?: unknown }
  readonly provider?: Partial<P>
}

/** The id of the injected wallet that announced nothing. */
const UNNAMED = 'injected'

/** Shows every wallet that announces itself (EIP-6963, TIP-6963), and the injected one where none does. Returns how to stop. */
export function announcedWallets<P extends Provider>(
  standard: 'eip6963' | 'TIP6963',
  injected: P | undefined,
  payWith: (provider: P) => PayerWallet['pay'],
  show: (wallets: readonly PayerWallet[]) => void,
): () => void {
  const list = walletList(show)
  let announced = false
  const hear = (event: Event): void => {
    const { info, provider } = ((event as CustomEvent<Announcement<P> | null>).detail ?? {}) as Announcement<P>
    if (typeof info?.uuid !== 'string' || typeof provider?.request !== 'function') return
    announced = true
    list.remove(UNNAMED)
    const name = walletName(info.name)
    list.add({ id: info.uuid.slice(0, 64), name, icon: walletIcon(info.icon), pay: payWith(provider as P) })
  }
  window.addEventListener(`${standard}:announceProvider`, hear)
  window.dispatchEvent(new Event(`${standard}:requestProvider`))
  if (!announced && typeof injected?.request === 'function') {
    list.add({ id: UNNAMED, name: null, icon: null, pay: payWith(injected) })
  }
  return () => window.removeEventListener(`${standard}:announceProvider`, hear)
}
