import type { Request } from 'express'
import { expect, it } from 'vitest'
import { ASSET_OPTIONS, invoiceViews, LINK_VIEWS, SHOWN_ID } from '#test/support/checkout-views.ts'
import { plainInvoice, plainReceipt } from './plain-invoice.ts'
import { plainLink } from './plain-link.ts'
import { speechOf } from './plain-speech.ts'

const NOW = 1_795_000_000_000
/** What the pages with a script say of themselves, by language: on a page without one nothing happens by itself. */
const PROMISES = {
  en: /This page (updates|loads|checks|tries|then)/i,
  es: /Esta página (se actualiza|se carga|lo comprueba|vuelve a|mostrará)/i,
  pt: /Esta página (se atualiza|atualiza|carrega|verifica|tenta|mostrará)/i,
}
const PAUSED = ASSET_OPTIONS.map((option) => ({ ...option, isAvailable: false }))
const textOf = (page: { readonly body: unknown }) => JSON.stringify(page.body)

// Guarantee: a page without a script promises nothing that only a script does.
it.each(Object.entries(PROMISES))('no page promises in %s to update itself', (language, promise) => {
  const speech = speechOf({ query: { lang: language }, acceptsLanguages: () => [] } as unknown as Request)
  const form = { actionId: SHOWN_ID, problem: null }
  for (const [name, view] of Object.entries(invoiceViews(NOW))) {
    for (const assets of [ASSET_OPTIONS, PAUSED, null]) {
      const options = assets === null ? null : { assets, holdMs: 1_200_000 }
      expect(textOf(plainInvoice(speech, { ...form, view, now: NOW, options })), name).not.toMatch(promise)
    }
    expect(textOf(plainReceipt(speech, { view, now: NOW })), name).not.toMatch(promise)
  }
  for (const [name, link] of Object.entries(LINK_VIEWS)) {
    expect(textOf(plainLink(speech, { ...form, link, none: null, typed: '' })), name).not.toMatch(promise)
  }
})
