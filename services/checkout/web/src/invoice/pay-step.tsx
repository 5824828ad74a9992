import { useState } from 'preact/hooks'
import type { InvoiceView, PaymentMethodView } from '#shared/contracts/checkout/invoice-view.ts'
import { NETWORKS } from '#shared/domain/networks.ts'
import { announceSent, rememberSent } from '../data/announced.ts'
import { neededText } from '../format/confirmation-text.ts'
import { addressGroups } from '../format/format-values.ts'
import { isGone, isZero } from '../format/step.ts'
import { Foreign, Say, useSpeech } from '../locales/locale.tsx'
import { Note, Question, StateBar } from '../parts/blocks.tsx'
import { CoinMark } from '../parts/coin-mark.tsx'
import { ContactHint } from '../parts/contact.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { PaymentList } from '../parts/payment-list.tsx'
import { Qr } from '../parts/qr.tsx'
import { Steps } from '../parts/steps.tsx'
import { AnnouncedList } from './announced-list.tsx'
import { BrowserWallets } from './browser-wallets.tsx'
import { HashQuestion } from './hash-question.tsx'
import { PriceClock } from './price-clock.tsx'
import type { Action } from './use-action.ts'

interface PayProps {
  readonly view: InvoiceView
  readonly paymentMethod: PaymentMethodView
  readonly now: number
  readonly actionId: Action
  readonly accept: (view: InvoiceView, now: number) => void
  readonly chooseOther: () => void
}

/** Amount, network and address; also for the rest of an underpayment. */
export function PayStep({ view, paymentMethod, now, actionId, accept, chooseOther }: PayProps) {
  const speech = useSpeech()
  const { say } = speech
  const network = NETWORKS[paymentMethod.network].name
  const isRest = !isZero(view.received)
  const amount = paymentMethod.remaining
  const sent = (txHash: string): void => {
    rememberSent(view.id, txHash, now)
    void announceSent(view.id, txHash, accept)
  }
  return (
    <>
      <Steps names={['step.coin', 'step.pay', 'step.confirm']} at={1} />
      {isRest ? (
        <RestHead view={view} paymentMethod={paymentMethod} now={now} />
      ) : (
        <>
          <h1 tabIndex={-1}>{say('pay.title', { a: amount, c: paymentMethod.symbol, n: network })}</h1>
          <p class="sub">{say(startsWithLink(paymentMethod) ? 'pay.sub' : 'pay.subAddress')}</p>
        </>
      )}
      {view.payments.some(isGone) && (
        <Note tone="expired" icon="info">
          {say('stepback')}
        </Note>
      )}
      <AnnouncedList view={view} now={now} accept={accept} />
      <PriceClock view={view} now={now} actionId={actionId} />
      <div class="pay">
        <ol class="rows">
          <NetworkRow paymentMethod={paymentMethod} isRest={isRest} />
          <li>
            <span class="number" aria-hidden="true">
              2
            </span>
            <div>
              <div class="label">{say(isRest ? 'pay.still' : 'pay.amount')}</div>
              <div class="value with-mark">
                <CoinMark name={paymentMethod.symbol} />
                <span>
                  {amount} <small>{paymentMethod.symbol}</small>
                </span>
              </div>
              {paymentMethod.isExact && <p class="row-note">{say('pay.exact')}</p>}
            </div>
            <CopyButton
              text={amount}
              label={say('copy.amount', { a: amount })}
              done={say('copied.amount', { a: amount })}
            />
          </li>
          <li>
            <span class="number" aria-hidden="true">
              3
            </span>
            <div>
              <div class="label">{say(isRest ? 'pay.toSame' : 'pay.to')}</div>
              <Address address={paymentMethod.address} />
            </div>
            <CopyButton
              text={paymentMethod.address}
              label={say('copy.address', { a: paymentMethod.address.slice(-4) })}
              done={say('copied.address', { a: paymentMethod.address.slice(-4) })}
            />
          </li>
        </ol>
        <Codes paymentMethod={paymentMethod} isRest={isRest} />
      </div>
      <BrowserWallets invoiceId={view.id} paymentMethod={paymentMethod} sent={sent} />
      {paymentMethod.uri !== null && <OpenWallet uri={paymentMethod.uri} />}
      <p class="tip">{neededText(speech, paymentMethod)}</p>
      <p class="tip">
        <b>{say('exchange.q')}</b> {say('exchange', { a: amount })}
      </p>
      {isRest && <PaymentList view={view} now={now} />}
      <Help view={view} isRest={isRest} chooseOther={chooseOther} />
      {!isRest && <Leave view={view} />}
      {isRest ? (
        <StateBar tone="partial" icon="half" title={say('partial.bar', { a: amount, c: paymentMethod.symbol })}>
          {say('partial.sub')}
        </StateBar>
      ) : (
        <StateBar tone="pending" icon="clock" title={say('waiting')}>
          {say('waiting.sub')}
        </StateBar>
      )}
    </>
  )
}

/** After this long without leaving the page, no program took the link. */
const TAKEN_MS = 1_500

/** A link that a wallet on the device may take; whether one does, a page finds out only by what happens next. */
function OpenWallet({ uri }: { readonly uri: string }) {
  const { say } = useSpeech()
  const [isUntaken, setUntaken] = useState(false)
  const open = (): void => {
    setUntaken(false)
    setTimeout(() => setUntaken(document.visibilityState === 'visible' && document.hasFocus()), TAKEN_MS)
  }
  return (
    <>
      <a class="button wallet-link" href={uri} onClick={open}>
        {say('wallet.open')}
      </a>
      <p class="sub" role="status">
        {isUntaken && say('wallet.none')}
      </p>
    </>
  )
}

function RestHead({
  view,
  paymentMethod,
}: {
  readonly view: InvoiceView
  readonly paymentMethod: PaymentMethodView
  readonly now: number
}) {
  const { say } = useSpeech()
  const { received } = view
  const label = say('partial.meter', { a: received, b: paymentMethod.due, c: paymentMethod.symbol })
  return (
    <>
      <h1 tabIndex={-1}>{say('partial.title', { a: paymentMethod.remaining, c: paymentMethod.symbol })}</h1>
      <progress class="meter" value={shareOf(received, paymentMethod.due)} max={1000} aria-label={label} />
      <p class="meter-text">
        <span>
          {say('fact.received')}{' '}
          <b>
            {received} {paymentMethod.symbol}
          </b>
        </span>
        <span>{say('partial.of', { a: paymentMethod.due })}</span>
      </p>
      <Note tone="partial" icon="half">
        {say('partial')}
      </Note>
    </>
  )
}

/** Thousandths of the whole, only for a bar: not used for payments. */
function shareOf(part: string, whole: string): number {
  const [partDigits, wholeDigits] = [part, whole].map((text) => {
    const [integer = '0', fraction = ''] = text.split('.')
    return BigInt(`${integer}${fraction.padEnd(18, '0').slice(0, 18)}`)
  })
  if (partDigits === undefined || wholeDigits === undefined || wholeDigits === 0n) return 0
  return Number((partDigits * 1_000n) / wholeDigits)
}

function NetworkRow({
  paymentMethod,
  isRest,
}: {
  readonly paymentMethod: PaymentMethodView
  readonly isRest: boolean
}) {
  const { say } = useSpeech()
  const { name, standard } = NETWORKS[paymentMethod.network]
  const isLookalike = NETWORKS[paymentMethod.network].hasLookalikes
  const suffix =
    isLookalike && standard === null
      ? say('network.notEthereum')
      : paymentMethod.isToken && standard !== null
        ? `(${standard})`
        : ''
  return (
    <li class="row-network">
      <span class="number" aria-hidden="true">
        1
      </span>
      <div>
        <div class="label">{say('pay.check')}</div>
        <div class="value with-mark">
          <CoinMark name={NETWORKS[paymentMethod.network].mark} label={name} />
          <span>
            {name} {suffix !== '' && <small>{suffix}</small>}
          </span>
        </div>
        <p>
          <b>{say('network.only', { c: paymentMethod.symbol, n: name })}</b>{' '}
          {!isRest && say(isLookalike ? 'network.evm' : 'network.lost')}
        </p>
      </div>
    </li>
  )
}

/** The link back to the shop for payers who do not pay. */
function Leave({ view }: { readonly view: InvoiceView }) {
  if (view.cancelUrl === null || !/^https?:\/\//.test(view.cancelUrl)) return null
  return (
    <p class="leave">
      <a href={view.cancelUrl} rel="noreferrer">
        <Say w="cancel" m={<Foreign text={view.merchant.name} />} />
      </a>
    </p>
  )
}

/** Whole, in groups of four, its ends emphasised; the selected text has no spaces. */
export function Address({ address }: { readonly address: string }) {
  const groups = addressGroups(address)
  return (
    <div class="address" dir="ltr">
      {groups.map((group, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: groups have no other key
        <span key={index} class={index === 0 || index === groups.length - 1 ? 'group strong' : 'group'}>
          {group}
        </span>
      ))}
    </div>
  )
}

/** Whether the first code holds the amount too: many wallets ignore the amount of a token, or refuse its code. */
const startsWithLink = (paymentMethod: PaymentMethodView): boolean =>
  paymentMethod.uri !== null && !paymentMethod.isToken

function Codes({ paymentMethod, isRest }: { readonly paymentMethod: PaymentMethodView; readonly isRest: boolean }) {
  const { say } = useSpeech()
  const [tab, setTab] = useState<'address' | 'uri'>(startsWithLink(paymentMethod) ? 'uri' : 'address')
  const uri = tab === 'uri' ? paymentMethod.uri : null
  const tabs = paymentMethod.isToken ? (['address', 'uri'] as const) : (['uri', 'address'] as const)
  const move = (event: KeyboardEvent): void => {
    if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return
    event.preventDefault()
    const next = tab === 'uri' ? 'address' : 'uri'
    setTab(next)
    document.getElementById(`tab-${next}`)?.focus()
  }
  const panel = (
    <>
      <Qr text={uri ?? paymentMethod.address} label={say(uri === null ? 'qr.labelAddress' : 'qr.labelUri')} />
      <p>
        <b>{say(uri !== null ? 'qr.uri' : isRest ? 'qr.same' : 'qr.address')}</b>{' '}
        {uri !== null
          ? say('qr.uriMore')
          : isRest
            ? say('qr.sameMore', { a: paymentMethod.remaining })
            : say('qr.addressMore')}
      </p>
    </>
  )
  if (paymentMethod.uri === null) return <div class="codes">{panel}</div>
  return (
    <div>
      <div class="tabs" role="tablist" aria-label={say('qr.tabs')} onKeyDown={move}>
        {tabs.map((name) => (
          <button
            key={name}
            id={`tab-${name}`}
            type="button"
            role="tab"
            aria-selected={tab === name}
            aria-controls="code"
            tabIndex={tab === name ? 0 : -1}
            onClick={() => setTab(name)}
          >
            {say(name === 'uri' ? 'qr.tabUri' : 'qr.tabAddress')}
          </button>
        ))}
      </div>
      <div class="codes" id="code" role="tabpanel" aria-labelledby={`tab-${tab}`}>
        {panel}
      </div>
    </div>
  )
}

function Help({
  view,
  isRest,
  chooseOther,
}: {
  readonly view: InvoiceView
  readonly isRest: boolean
  readonly chooseOther: () => void
}) {
  const { say } = useSpeech()
  const who = <Foreign text={view.merchant.name} />
  return (
    <div class="help">
      {isRest ? (
        <Question title={say('partial.small.q')}>
          <p>
            <Say w="partial.small" m={who} x={view.number} />
          </p>
          <ContactHint merchant={view.merchant} />
        </Question>
      ) : (
        <Question title={say('less.q')}>
          <p>{say('less')}</p>
        </Question>
      )}
      <Question title={say('wrongnet.q')}>
        <p>
          <Say w="wrongnet" m={who} x={view.number} />
        </p>
        <ContactHint merchant={view.merchant} />
      </Question>
      <HashQuestion view={view} />
      {view.canChoose && !isRest && (
        <Question title={say('other.q')}>
          <p>{say('other')}</p>
          <button type="button" class="button" onClick={chooseOther}>
            {say('other.do')}
          </button>
        </Question>
      )}
    </div>
  )
}
