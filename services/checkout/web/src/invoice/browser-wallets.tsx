import { useEffect, useRef, useState } from 'preact/hooks'
import type { PaymentMethodView } from '#shared/contracts/checkout/invoice-view.ts'
import { NETWORKS } from '#shared/domain/networks.ts'
import { request } from '../data/request.ts'
import type { MessageKey } from '../locales/en.ts'
import { useSpeech } from '../locales/locale.tsx'
import { Icon } from '../parts/icon.tsx'
import type { Checkout, PayerWallet } from '../wallets/payer-wallet.ts'

/** A wallet that says nothing for this long may have sent, or lost its window. */
const PATIENCE_MS = 180_000

interface WalletsProps {
  readonly invoiceId: string
  readonly paymentMethod: PaymentMethodView
  /** Called with the id of the transaction that a wallet sent. */
  readonly sent: (txHash: string) => void
}

interface Attempt {
  readonly wallet: PayerWallet
  readonly key: MessageKey
  /** What was still to be sent when the payer chose the wallet. */
  readonly remaining: string
}

/** A button for each wallet in this browser; nothing if there is none. What is sent goes to the invoice's own chain or nowhere. */
export function BrowserWallets({ invoiceId, paymentMethod, sent }: WalletsProps) {
  const { say } = useSpeech()
  const wallets = useWallets(paymentMethod)
  const [attempt, setAttempt] = useState<Attempt | null>(null)
  const running = useRef(false)
  if (wallets.length === 0) return null
  // After an underpayment the rest may be sent with the same wallet.
  const shown = attempt !== null && attempt.remaining === paymentMethod.remainingBase ? attempt : null
  const isOver = shown?.key === 'wallet.sent' || shown?.key === 'wallet.waiting'
  const network = NETWORKS[paymentMethod.network].name

  async function pay(wallet: PayerWallet): Promise<void> {
    if (running.current || isOver) return
    running.current = true
    const remaining = paymentMethod.remainingBase
    let isSent = false
    const say = (key: MessageKey): void => setAttempt({ wallet, key, remaining })
    say('wallet.waiting')
    const timer = setTimeout(() => {
      running.current = false
      if (!isSent) say('wallet.unclear')
    }, PATIENCE_MS)
    try {
      const tellSent = (txHash: string): void => {
        isSent = true
        sent(txHash)
      }
      await wallet.pay(paymentMethod, tellSent, checkoutOf(invoiceId))
      say(isSent ? 'wallet.sent' : 'wallet.unclear')
    } catch (error) {
      const key = (error as { readonly key?: MessageKey }).key ?? 'wallet.unclear'
      // What has an id may arrive, whatever the wallet says afterwards.
      say(isSent ? 'wallet.unclear' : key)
    }
    clearTimeout(timer)
    running.current = false
  }

  return (
    <div class="wallet">
      {wallets.map((wallet) => (
        <button
          key={wallet.id}
          type="button"
          class={wallets.length === 1 ? 'button main' : 'button'}
          aria-disabled={isOver}
          aria-busy={shown?.key === 'wallet.waiting' && shown.wallet.id === wallet.id}
          onClick={() => void pay(wallet)}
        >
          <WalletIcon icon={wallet.icon} />
          <bdi dir="auto">{wallet.name === null ? say('wallet.browser') : say('wallet.with', { m: wallet.name })}</bdi>
        </button>
      ))}
      {shown !== null && <p role="alert">{say(shown.key, { n: network })}</p>}
    </div>
  )
}

/** What the checkout builds and sends from its own values; the page adds nothing but the wallet's account and signature. */
const checkoutOf = (invoiceId: string): Checkout => ({
  async prepare(account) {
    const answer = await request<{ transaction: string | null }>(`/i/${invoiceId}/wallet`, 'transaction', {
      body: { account },
    })
    return answer.ok ? answer.data.transaction : null
  },
  async submit(signed) {
    type Outcome = Awaited<ReturnType<Checkout['submit']>>
    const answer = await request<{ readonly outcome: Outcome }>(`/i/${invoiceId}/signed`, 'outcome', { body: signed })
    if (answer.ok) return answer.data.outcome
    // What the checkout refuses reaches no node; without its answer a node may have it.
    const { status } = answer.problem
    return status >= 400 && status < 500 ? 'unsent' : null
  },
})

function WalletIcon({ icon }: Pick<PayerWallet, 'icon'>) {
  const [isBroken, setBroken] = useState(false)
  if (icon === null || isBroken) return <Icon name="wallet" />
  return <img class="wallet-icon" src={icon} alt="" width={20} height={20} onError={() => setBroken(true)} />
}

/** The wallets of this browser for a payment method. Their code is loaded when it is needed; without it the page works as ever. */
function useWallets({ evm, browser }: Pick<PaymentMethodView, 'evm' | 'browser'>): readonly PayerWallet[] {
  const [wallets, setWallets] = useState<readonly PayerWallet[]>([])
  const chain = evm === null ? (browser?.chain ?? null) : 'evm'
  useEffect(() => {
    if (chain === null) return
    let stop: (() => void) | null = null
    let isOver = false
    import('../wallets/find-wallets.ts').then(
      ({ findWallets }) => {
        if (!isOver) stop = findWallets(chain, setWallets)
      },
      () => undefined,
    )
    return () => {
      isOver = true
      stop?.()
    }
  }, [chain])
  return wallets
}
