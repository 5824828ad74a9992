import type { Request } from 'express'
import { chooseLanguage, type Language } from '#services/checkout/web/src/format/locale.ts'
import { type Speech, speechIn } from '#services/checkout/web/src/locales/speech.ts'
import { WORDS as SPOKEN } from '#services/checkout/web/src/locales/words.ts'

interface Words {
  readonly choose: string
  readonly reload: string
  readonly reloadSub: string
  readonly script: string
  readonly foreign: string
  readonly left: string
  readonly back: string
  readonly go: string
  /** Of a refund's page, which only a script can show. */
  readonly refund: string
}

/** What only the pages without JavaScript say. */
const WORDS: Readonly<Record<Language, Words>> = {
  en: {
    choose: 'Coin and network',
    reload: 'Check again',
    reloadSub: 'This page does not update without JavaScript. Your payment counts all the same.',
    script: 'Open the page with JavaScript',
    foreign: 'This form was not sent from this page, so nothing was changed. Open the page again.',
    left: '{t} left',
    back: 'Back to the page',
    go: 'Continue',
    refund:
      'To enter the address for your refund, this page needs JavaScript. Allow it, or open this link in another browser or on another device. If the link has expired by then, ask the shop for a new one.',
  },
  es: {
    choose: 'Moneda y red',
    reload: 'Comprobar de nuevo',
    reloadSub: 'Sin JavaScript esta página no se actualiza. Tu pago cuenta igualmente.',
    script: 'Abrir la página con JavaScript',
    foreign: 'Este formulario no se envió desde esta página y no se cambió nada. Vuelve a abrir la página.',
    left: 'quedan {t}',
    back: 'Volver a la página',
    go: 'Continuar',
    refund:
      'Para indicar la dirección de tu reembolso, esta página necesita JavaScript. Permítelo o abre este enlace en otro navegador o en otro dispositivo. Si para entonces el enlace ha vencido, pide uno nuevo a la tienda.',
  },
  pt: {
    choose: 'Moeda e rede',
    reload: 'Verificar de novo',
    reloadSub: 'Sem JavaScript esta página não atualiza. Seu pagamento conta do mesmo jeito.',
    script: 'Abrir a página com JavaScript',
    foreign: 'Este formulário não foi enviado desta página e nada foi alterado. Abra a página de novo.',
    left: 'faltam {t}',
    back: 'Voltar à página',
    go: 'Continuar',
    refund:
      'Para informar o endereço do seu reembolso, esta página precisa de JavaScript. Permita-o ou abra este link em outro navegador ou em outro aparelho. Se até lá o link tiver vencido, peça um novo à loja.',
  },
}

/** Texts and formats of a page without JavaScript. */
export interface PlainSpeech extends Speech {
  readonly words: Words
  /** The query that keeps a language asked for in the address; empty without one. */
  readonly query: string
}

const preferredBy = (request: Request): readonly string[] => request.acceptsLanguages().filter((tag) => tag !== '*')

/** The language of a document: the one asked for in the address, otherwise the first one that the browser prefers. */
export function languageOf(request: Request): Language {
  const lang = request.query['lang']
  return chooseLanguage(typeof lang === 'string' ? lang : null, preferredBy(request))
}

/** The speech of a request. */
export function speechOf(request: Request): PlainSpeech {
  const language = languageOf(request)
  const query = request.query['lang'] === undefined ? '' : `?lang=${language}`
  return { ...speechIn(language, SPOKEN[language], preferredBy(request)), words: WORDS[language], query }
}
