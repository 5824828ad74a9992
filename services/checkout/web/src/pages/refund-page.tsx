import { useEffect, useRef, useState } from 'preact/hooks'
import type { RefundView } from '#shared/contracts/checkout/refund-view.ts'
import { NETWORKS } from '#shared/domain/networks.ts'
import { request } from '../data/request.ts'
import { useLoaded } from '../data/use-loaded.ts'
import { fullMomentText } from '../format/format-values.ts'
import { plain } from '../format/plain.ts'
import { meaningOf, problemText } from '../format/problem-text.ts'
import { Address } from '../invoice/pay-step.tsx'
import { Foreign, Say, useSpeech } from '../locales/locale.tsx'
import { Hero } from '../parts/blocks.tsx'
import { Frame } from '../parts/frame.tsx'
import { UnloadedPage } from './missing-page.tsx'

/** Where a customer enters the address for a refund, once. */
export function RefundPage({ token }: { readonly token: string }) {
  const { loaded, reload, accept } = useLoaded<{ readonly refund: RefundView }>(`/r/${token}`, 'refund')
  if (loaded.data === null) return <UnloadedPage problem={loaded.problem} retry={() => void reload()} />
  return <Refund refund={loaded.data.refund} token={token} accept={(refund) => accept({ refund })} reload={reload} />
}

interface RefundProps {
  readonly refund: RefundView
  readonly token: string
  readonly accept: (refund: RefundView) => void
  readonly reload: () => Promise<void>
}

function Refund(props: RefundProps) {
  const { refund } = props
  const { say, locale } = useSpeech()
  const { merchant, symbol, amount, network } = refund
  const title =
    refund.status === 'requested'
      ? say('refund.title')
      : say(refund.status === 'sent' ? 'refund.sent' : 'refund.given', { m: merchant })
  return (
    <Frame
      mode={refund.mode}
      merchant={refund.shop}
      head={say('refund.head')}
      total={
        <>
          {amount} <i>{symbol}</i>
        </>
      }
      description={null}
      facts={[
        { name: say('fact.invoice'), value: `#${refund.invoiceNumber}` },
        { name: say('fact.network'), value: NETWORKS[network].name },
      ]}
      title={title}
    >
      {refund.status === 'requested' ? (
        <AddressForm {...props} />
      ) : (
        <>
          <Hero tone="paid" icon="done" title={title}>
            <Say w={refund.status === 'sent' ? 'refund.sentSub' : 'refund.givenSub'} m={<Foreign text={merchant} />} />
          </Hero>
          {refund.address !== null && <Address address={refund.address} />}
          {refund.txHash !== null && <p class="mono hash-line">{refund.txHash}</p>}
        </>
      )}
      {refund.status === 'requested' && (
        <p class="sub">{say('refund.until', { t: fullMomentText(refund.expiresAt, locale()) })}</p>
      )}
    </Frame>
  )
}

function AddressForm({ refund, token, accept, reload }: RefundProps) {
  const speech = useSpeech()
  const { say } = speech
  const { symbol, network, merchant, amount, invoiceNumber } = refund
  const n = NETWORKS[network].name
  const [text, setText] = useState('')
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const [isReview, setReview] = useState(false)
  const field = useRef<HTMLInputElement>(null)
  const heading = useRef<HTMLHeadingElement>(null)

  async function send(): Promise<void> {
    if (isBusy) return
    if (text.trim() === '') return field.current?.focus()
    setProblem(null)
    // An address can be given once, so it is shown once more, whole and in groups.
    if (!isReview) return setReview(true)
    setBusy(true)
    const answer = await request<{ readonly refund: RefundView }>(`/r/${token}`, 'refund', {
      body: { address: text.trim() },
    })
    setBusy(false)
    if (answer.ok) accept(answer.data.refund)
    else {
      const { code } = answer.problem
      if (meaningOf(answer.problem) === 'unknown') await reload()
      if (code === 'VALIDATION_ERROR') setProblem(say('refund.invalid', { n }))
      else if (code === 'INVALID_STATE') setProblem(say('refund.other', { m: merchant }))
      else setProblem(problemText(speech, answer.problem, plain(merchant)))
      setReview(false)
    }
  }
  useEffect(() => {
    if (isReview) heading.current?.focus()
    else if (problem !== null) field.current?.focus()
  }, [isReview, problem])

  return (
    <form
      class="hash"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        void send()
      }}
    >
      <h1 ref={heading} tabIndex={-1}>
        {say(isReview ? 'refund.review' : 'refund.title')}
      </h1>
      <p class="sub">
        <Say w="refund.text" m={<Foreign text={merchant} />} a={amount} c={symbol} n={n} x={invoiceNumber} />
      </p>
      {isReview ? (
        <Address address={text.trim()} />
      ) : (
        <>
          <label for="address">{say('refund.label', { c: symbol, n })}</label>
          <input
            id="address"
            ref={field}
            class="field mono"
            value={text}
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
            maxLength={200}
            aria-invalid={problem !== null}
            aria-describedby="refund-problem refund-warning"
            onInput={(event) => setText(event.currentTarget.value)}
          />
          <p class="problem" id="refund-problem" role="alert" hidden={problem === null}>
            {problem}
          </p>
        </>
      )}
      <p class="tip" id="refund-warning">
        {say('refund.warn', { c: symbol, n })}
      </p>
      <button
        // A separate button for each step: the second half of a double click on the first must not submit the address.
        key={isReview ? 'do' : 'next'}
        type="submit"
        class="button main"
        onClick={(event) => {
          if (event.detail > 1) event.preventDefault()
        }}
        aria-disabled={isBusy}
        aria-busy={isBusy}
      >
        {say(isReview ? 'refund.do' : 'refund.next')}
      </button>
      {isReview && (
        <button type="button" class="button" onClick={() => setReview(false)}>
          {say('refund.change')}
        </button>
      )}
    </form>
  )
}
