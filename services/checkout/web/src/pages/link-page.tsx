import { useRef, useState } from 'preact/hooks'
import type { AssetOptionsView, LinkView } from '#shared/contracts/checkout/invoice-view.ts'
import type { AssetId } from '#shared/domain/enumerations.ts'
import { forgetAction, keptAction, request } from '../data/request.ts'
import { useLoaded } from '../data/use-loaded.ts'
import { fiatNumber, fiatText } from '../format/format-values.ts'
import { linkEnd } from '../format/link-end.ts'
import { plain } from '../format/plain.ts'
import { amountFault, boundsText, readTypedAmount, type TypedAmount } from '../format/typed-amount.ts'
import { CoinPicker } from '../invoice/pick-step.tsx'
import { Foreign, Say, useSpeech } from '../locales/locale.tsx'
import type { Speech } from '../locales/speech.ts'
import { Hero } from '../parts/blocks.tsx'
import { Contact } from '../parts/contact.tsx'
import { type Fact, Frame } from '../parts/frame.tsx'
import { Icon } from '../parts/icon.tsx'
import { Steps } from '../parts/steps.tsx'
import { type LinkProps, usePayment } from './link-payment.ts'
import { UnloadedPage } from './missing-page.tsx'

interface LinkAnswer {
  readonly link: LinkView
  /** The coins of a link with a price. */
  readonly options?: AssetOptionsView
}

/** A payment link: opening it creates nothing, pressing the button creates this payer's invoice. */
export function LinkPage({ id }: { readonly id: string }) {
  const { loaded, reload } = useLoaded<LinkAnswer>(`/l/${id}?coins`, 'link')
  if (loaded.data === null) return <UnloadedPage problem={loaded.problem} retry={() => void reload()} />
  return <Link link={loaded.data.link} options={loaded.data.options ?? null} reload={reload} />
}

type LinkOptionsProps = LinkProps & { readonly options: AssetOptionsView | null }

function Link({ link, options, reload }: LinkOptionsProps) {
  const speech = useSpeech()
  const { say, locale } = speech
  const { amount, currency } = link
  const places = locale(currency)
  return (
    <Frame
      mode={link.mode}
      merchant={link.merchant}
      head={say('link')}
      total={
        amount.kind === 'custom' ? (
          say('link.choose')
        ) : (
          <>
            {fiatNumber({ value: amount.value, currency }, places)} <i>{currency}</i>
          </>
        )
      }
      description={link.description}
      facts={boundsOf(link, speech)}
      title={plain(link.title)}
    >
      {!link.isActive ? (
        <EndedLink link={link} />
      ) : amount.kind === 'fixed' ? (
        <FixedLink link={link} options={options} reload={reload} />
      ) : (
        <LinkForm link={link} reload={reload} />
      )}
    </Frame>
  )
}

function boundsOf({ amount, currency }: LinkView, { say, locale }: Speech): readonly Fact[] {
  if (amount.kind === 'fixed') return []
  const fact = (name: 'fact.least' | 'fact.most', value: string | null): Fact[] =>
    value === null ? [] : [{ name: say(name), value: fiatText({ value, currency }, locale(currency)) }]
  return [...fact('fact.least', amount.min), ...fact('fact.most', amount.max)]
}

function EndedLink({ link }: { readonly link: LinkView }) {
  const merchant = <Foreign text={link.merchant.name} />
  const { title, text, t } = linkEnd(link)
  return (
    <>
      <Hero tone="expired" icon="slash" title={<Say w={title} m={merchant} />}>
        <Say w={text} m={merchant} t={t} />
      </Hero>
      <div class="acts">
        <Contact merchant={link.merchant} />
      </div>
    </>
  )
}

/** A link with a price begins with the coin: the invoice is made, and the coin chosen for it, with one press of the button. */
function FixedLink({ link, options, reload }: LinkOptionsProps) {
  const { say } = useSpeech()
  const { pay, isBusy, problem } = usePayment({ link, reload })

  const choose = async (invoiceId: string, asset: AssetId): Promise<void> => {
    const purpose = `${invoiceId} asset ${asset}`
    // Whatever the answer, the invoice's page shows what became of it, and offers the choice again.
    const answer = await request<{ readonly view: object }>(`/i/${invoiceId}/asset`, 'view', {
      body: { asset, actionId: keptAction(purpose) },
    })
    if (answer.ok) forgetAction(purpose)
  }

  return (
    <CoinPicker
      from={`/l/${link.id}/assets`}
      first={options}
      currency={link.currency}
      merchant={link.merchant}
      canChoose
      isBusy={isBusy}
      problem={problem}
      choose={(asset) => void pay({}, (invoiceId) => choose(invoiceId, asset))}
      stay={null}
    >
      <LinkHead link={link} />
      <p class="sub">{say('link.pick')}</p>
    </CoinPicker>
  )
}

/** What is paid for; on a phone the description is out of sight in the bill. */
function LinkHead({ link }: Pick<LinkProps, 'link'>) {
  return (
    <>
      <h1 tabIndex={-1}>
        <Foreign text={link.title} />
      </h1>
      {link.description !== null && (
        <p class="link-about">
          <Foreign text={link.description} />
        </p>
      )}
    </>
  )
}

function LinkForm({ link, reload }: LinkProps) {
  const speech = useSpeech()
  const { say, locale } = speech
  const { amount, currency } = link
  const [text, setText] = useState('')
  const [wasTried, setTried] = useState(false)
  const { pay, isBusy, problem } = usePayment({ link, reload })
  const field = useRef<HTMLInputElement>(null)
  const typed: TypedAmount = amount.kind === 'fixed' ? { kind: 'empty' } : readTypedAmount(text, currency, amount)
  const price = typed.kind === 'amount' ? fiatText({ value: typed.value, currency }, locale(currency)) : null

  async function send(): Promise<void> {
    setTried(true)
    if (typed.kind === 'amount') await pay({ amount: typed.value }, async () => {})
    else field.current?.focus()
  }

  return (
    <form
      class="link-form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        void send()
      }}
    >
      <Steps names={['step.amount', 'step.coin', 'step.pay', 'step.confirm']} at={0} />
      <LinkHead link={link} />
      <p class="sub">{say('link.sub')}</p>
      <AmountField link={link} text={text} typed={typed} wasTried={wasTried} field={field} onInput={setText} />
      <p class="tip">
        <b>{say('how.b')}</b> {say('how')}
      </p>
      <div class="stick">
        {problem !== null && (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
        <button type="submit" class="button main" aria-disabled={isBusy} aria-busy={isBusy}>
          {price === null ? say('link.continueEmpty') : say('link.continue', { a: price })}
        </button>
        <p>{say('link.next')}</p>
      </div>
    </form>
  )
}

interface AmountFieldProps {
  readonly link: LinkView
  readonly text: string
  readonly typed: TypedAmount
  readonly wasTried: boolean
  readonly field: { current: HTMLInputElement | null }
  readonly onInput: (text: string) => void
}

/** One field; below it the parsed amount, or the problem with it. */
function AmountField({ link, text, typed, wasTried, field, onInput }: AmountFieldProps) {
  const speech = useSpeech()
  const { say, locale } = speech
  const { currency } = link
  const bounds = boundsText(speech, link)
  const isWrong = typed.kind !== 'amount' && (typed.kind !== 'empty' || wasTried)
  const fault = amountFault(speech, typed, link)
  return (
    <div class="money-field">
      <label for="amount">{say('fact.amount')}</label>
      <div class="money">
        <input
          id="amount"
          ref={field}
          value={text}
          inputMode="decimal"
          autocomplete="off"
          maxLength={20}
          aria-invalid={isWrong}
          aria-describedby="amount-bounds amount-echo"
          onInput={(event) => onInput(event.currentTarget.value)}
        />
        <span>{currency}</span>
      </div>
      <p class="hint" id="amount-bounds">
        {typed.kind === 'low' || typed.kind === 'high' ? null : bounds}
      </p>
      <p class={isWrong ? 'echo wrong' : 'echo'} id="amount-echo">
        {isWrong && (
          <>
            <Icon name="alert" /> <span>{fault}</span>
          </>
        )}
        {typed.kind === 'amount' && (
          <>
            <Icon name="done" />{' '}
            <span>
              <Say w="amount.echo" a={<b>{fiatText({ value: typed.value, currency }, locale(currency))}</b>} />
            </span>
          </>
        )}
      </p>
    </div>
  )
}
