import type { ComponentChildren } from 'preact'
import { useContext, useEffect, useState } from 'preact/hooks'
import type { MerchantView } from '#shared/contracts/checkout/invoice-view.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import { LANGUAGE_NAMES, LANGUAGES, type Language } from '../format/locale.ts'
import { Foreign, Say, SpeechContext, useSpeech } from '../locales/locale.tsx'
import { Guilloche } from './guilloche.tsx'
import { Icon } from './icon.tsx'
import { MerchantMark, useBrandColour } from './merchant-mark.tsx'

/** One line of the bill. */
export interface Fact {
  readonly name: string
  readonly value: ComponentChildren
}

interface FrameProps {
  readonly mode: Mode
  readonly merchant: MerchantView
  /** Below the merchant's name: order or kind of page. */
  readonly head: ComponentChildren
  readonly total: ComponentChildren
  readonly description: string | null
  readonly facts: readonly Fact[]
  readonly title: string
  readonly children: ComponentChildren
}

/** Every payer's page but the receipt: the bill with its sum, and next to it or below it the current step. */
export function Frame(props: FrameProps) {
  const { say } = useSpeech()
  const { merchant, mode } = props
  const [isOpen, setOpen] = useState(false)
  usePageMarks(mode, `${props.title} · ${merchant.name}`)
  useBrandColour(merchant)
  return (
    <>
      <a class="skip" href="#till">
        {say('skip')}
      </a>
      <TestBand mode={mode} />
      <main class="sheet">
        <header class={isOpen ? 'bill open' : 'bill'}>
          <Guilloche kind="bill" />
          <div class="bill-head">
            <MerchantMark merchant={merchant} />
            <div class="who">
              <strong>
                <Foreign text={merchant.name} />
              </strong>
              <small>{props.head}</small>
            </div>
            <LanguageChoice />
          </div>
          <div class="total">
            <span class="sum">{props.total}</span>
            <button
              class="more"
              type="button"
              aria-expanded={isOpen}
              aria-controls="facts"
              onClick={() => setOpen(!isOpen)}
            >
              {say('details')}
            </button>
          </div>
          <div class="facts" id="facts">
            {props.description !== null && (
              <p class="description">
                <Foreign text={props.description} />
              </p>
            )}
            <dl>
              {props.facts.map(({ name, value }) => (
                <div key={name}>
                  <dt>{name}</dt>
                  <dd>{value}</dd>
                </div>
              ))}
            </dl>
            <p class="bill-foot">
              <Icon name="shield" />
              <span>
                <Say w="foot" m={<Foreign text={merchant.name} />} />
              </span>
            </p>
          </div>
        </header>
        <section class="till" id="till" tabIndex={-1}>
          {props.children}
        </section>
      </main>
      <PageFoot />
    </>
  )
}

/** A page without a merchant: something is missing or did not load. */
export function PlainFrame({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  usePageMarks('live', title)
  return (
    <>
      <main class="sheet narrow-sheet">
        <section class="till">{children}</section>
      </main>
      <PageFoot />
    </>
  )
}

/** Stripes, a label and a warning, so that a test is never mistaken for a real payment. */
export function TestBand({ mode }: { readonly mode: Mode }) {
  const { say } = useSpeech()
  if (mode === 'live') return null
  return (
    <aside class="test-band" aria-label={say('test.label')}>
      <b>{say('test.mode')}</b>
      <span>{say('test')}</span>
    </aside>
  )
}

/** Sets the page's title, and its mode for the styles. */
export function usePageMarks(mode: Mode, title: string): void {
  const { language } = useSpeech()
  useEffect(() => {
    document.documentElement.dataset['mode'] = mode
    document.documentElement.lang = language
    document.title = mode === 'test' ? `[TEST] ${title}` : title
  }, [mode, title, language])
}

function LanguageChoice() {
  const { speech, speak } = useContext(SpeechContext)
  return (
    <label class="language">
      <Icon name="globe" />
      <span class="unseen">{speech.say('language')}</span>
      <select
        value={speech.language}
        onChange={(event) => {
          const chosen = LANGUAGES.find((language) => language === event.currentTarget.value)
          if (chosen !== undefined) speak(chosen)
        }}
      >
        {LANGUAGES.map((language: Language) => (
          <option key={language} value={language}>
            {LANGUAGE_NAMES[language]}
          </option>
        ))}
      </select>
    </label>
  )
}

function PageFoot() {
  const { say } = useSpeech()
  return (
    <footer class="page-foot">
      <svg class="logo" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
        <path d="M8 2.5v4.2M8 9.3v12.2M16 2.5v12.2M16 17.3v4.2M2.5 8h10.2M19.3 8h2.2M2.5 16h2.2M11.3 16h10.2" />
      </svg>
      {say('by')}
    </footer>
  )
}
