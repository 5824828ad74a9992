import { useRef, useState } from 'preact/hooks'
import type { HashAnswer, InvoiceView } from '#shared/contracts/checkout/invoice-view.ts'
import { NETWORKS } from '#shared/domain/networks.ts'
import { readPasted } from '#shared/domain/pasted-text.ts'
import { request } from '../data/request.ts'
import { plain } from '../format/plain.ts'
import { problemText } from '../format/problem-text.ts'
import { useSpeech } from '../locales/locale.tsx'
import { Question } from '../parts/blocks.tsx'
import { ContactHint } from '../parts/contact.tsx'

/** Verdicts whose text asks the payer to write to the merchant. */
const MERCHANT_VERDICTS: ReadonlySet<string> = new Set([
  ...['not_counted', 'too_small', 'wrong_asset', 'wrong_network', 'elsewhere'],
])

/** "I paid but nothing happened": the payer enters a transaction id and gets its status. */
export function HashQuestion({ view }: { readonly view: InvoiceView }) {
  const speech = useSpeech()
  const { say } = speech
  const [text, setText] = useState('')
  const [isBusy, setBusy] = useState(false)
  const [result, setResult] = useState<string | null>(null)
  const field = useRef<HTMLInputElement>(null)
  const [needsMerchant, setNeedsMerchant] = useState(false)
  const isWrong = result === say('hash.invalid')

  async function look(): Promise<void> {
    if (isBusy || text.trim() === '') {
      field.current?.focus()
      return
    }
    setBusy(true)
    setResult(null)
    setNeedsMerchant(false)
    const answer = await request<{ readonly answer: HashAnswer }>(`/i/${view.id}/question`, 'answer', {
      body: { txHash: readPasted(text) },
    })
    setBusy(false)
    const merchant = plain(view.merchant.name)
    if (answer.ok) {
      const { verdict, network, confirmations, requiredConfirmations } = answer.data.answer
      setNeedsMerchant(MERCHANT_VERDICTS.has(verdict))
      const n = network === null ? '' : NETWORKS[network].name
      const counts = { a: confirmations ?? 0, b: requiredConfirmations ?? 0 }
      setResult(say(`hash.${verdict}`, { m: merchant, x: view.number, n, ...counts }))
    } else {
      const isNoHash = answer.problem.code === 'VALIDATION_ERROR'
      setResult(isNoHash ? say('hash.invalid') : problemText(speech, answer.problem, merchant))
      if (isNoHash) field.current?.focus()
    }
  }

  return (
    <Question title={say('hash.q')}>
      <p>{say('hash.text')}</p>
      <form
        class="hash"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          void look()
        }}
      >
        <label for="hash">{say('hash.label')}</label>
        <input
          id="hash"
          ref={field}
          class="field mono"
          value={text}
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          maxLength={500}
          aria-invalid={isWrong}
          aria-describedby="hash-result"
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <button type="submit" class="button" aria-disabled={isBusy} aria-busy={isBusy}>
          {say(isBusy ? 'hash.looking' : 'hash.do')}
        </button>
      </form>
      <p id="hash-result" class="hash-result" role="alert">
        {result}
      </p>
      {needsMerchant && <ContactHint merchant={view.merchant} />}
    </Question>
  )
}
