import { type ComponentChildren, createContext } from 'preact'
import { useContext } from 'preact/hooks'
import { chooseLanguage, type Language } from '../format/locale.ts'
import { plain } from '../format/plain.ts'
import { en, type MessageKey } from './en.ts'
import { type Speech, speechIn } from './speech.ts'

const STORE = 'paymesh-language'

/** The page's language; chosen in the address, then by a click of earlier, then by the browser. */
export function readLanguage(): Language {
  const lang = new URLSearchParams(location.search).get('lang')
  const language = chooseLanguage(lang ?? stored(), navigator.languages)
  // A shop that names a language means every page of this payment.
  if (lang !== null) keepLanguage(language)
  return language
}

/** Stores a choice for the next page; in a browser without storage the choice lasts one page. */
export function keepLanguage(language: Language): void {
  try {
    localStorage.setItem(STORE, language)
  } catch {
    // Without storage the choice lasts as long as the page.
  }
}

function stored(): string | null {
  try {
    return localStorage.getItem(STORE)
  } catch {
    return null
  }
}

/** The speech of the page, and how to change its language. */
export const SpeechContext = createContext<{ readonly speech: Speech; speak(language: Language): void }>({
  speech: speechIn('en', en, []),
  speak: () => undefined,
})

/** The speech of the page. */
export const useSpeech = (): Speech => useContext(SpeechContext).speech

/** A text whose places are filled with parts of the page, texts of other people among them. */
export function Say({ w, ...fill }: { readonly w: MessageKey } & Readonly<Record<string, ComponentChildren>>) {
  const { texts } = useSpeech()
  const parts = texts[w].split(/(\{\w\})/)
  return (
    <>
      {parts.map((part) => {
        const name = /^\{(\w)\}$/.exec(part)?.[1]
        return name === undefined ? part : fill[name]
      })}
    </>
  )
}

/** Text of other people: apart from the direction of what surrounds it. */
export function Foreign({ text }: { readonly text: string }) {
  return <bdi dir="auto">{plain(text)}</bdi>
}
