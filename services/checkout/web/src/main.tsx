import { render } from 'preact'
import { useErrorBoundary, useState } from 'preact/hooks'
import { OFFLINE } from './data/request.ts'
import { InvoicePage } from './invoice/invoice-page.tsx'
import { loadWords } from './locales/load-words.ts'
import { keepLanguage, readLanguage, SpeechContext } from './locales/locale.tsx'
import { speechIn } from './locales/speech.ts'
import { LinkPage } from './pages/link-page.tsx'
import { FailedPage, MissingPage } from './pages/missing-page.tsx'
import { ReceiptPage } from './pages/receipt-page.tsx'
import { Announcer } from './parts/announcer.tsx'
import '#shared/styles/tokens.css'
import '#shared/styles/access.css'
import '#shared/styles/marks.css'
import './styles/base.css'
// In this order: of two rules with equal specificity the later one wins, and `wide` overrides the ones before it.
import './styles/bill.css'
import './styles/till.css'
import './styles/payment-rows.css'
import './styles/messages.css'
import './styles/progress.css'
import './styles/outcome.css'
import './styles/pick.css'
import './styles/link-form.css'
import './styles/page.css'
import './styles/wide.css'
import './styles/receipt.css'

/** The page of a refund, which few payers open: null until its path requests it, and where it did not arrive. */
let RefundPage: typeof import('./pages/refund-page.tsx').RefundPage | null = null

/** The page of a path. */
function Page({ path }: { readonly path: string }) {
  // As the server reads it: in either case, and with a slash at its end or without.
  const [, kind = '', id = '', part = '', ...rest] = path.replace(/\/$/, '').split('/')
  const page = `${kind}/${part}`.toLowerCase()
  if (id !== '' && rest.length === 0) {
    if (page === 'i/') return <InvoicePage id={id} />
    if (page === 'i/receipt') return <ReceiptPage id={id} />
    if (page === 'l/') return <LinkPage id={id} />
    if (page === 'r/') {
      if (RefundPage === null) throw OFFLINE
      return <RefundPage token={id} />
    }
  }
  return <MissingPage />
}

/** A page that cannot be shown says so: its code did not arrive, or is older than what the server says. */
function App({ first }: { readonly first: Awaited<ReturnType<typeof loadWords>> }) {
  const [{ language, texts }, setSpoken] = useState(first)
  const [fault] = useErrorBoundary()
  const speak = async (next: typeof language): Promise<void> => {
    keepLanguage(next)
    setSpoken(await loadWords(next))
  }
  return (
    <SpeechContext.Provider value={{ speech: speechIn(language, texts, navigator.languages), speak }}>
      <Announcer>
        {fault === undefined ? (
          <Page path={location.pathname} />
        ) : (
          <FailedPage problem={OFFLINE} retry={() => location.reload()} />
        )}
      </Announcer>
    </SpeechContext.Provider>
  )
}

void start()

/** No `await` at the top level: files that are loaded later import parts of this one, which would wait for it. */
async function start(): Promise<void> {
  const isRefund = /^\/r\//i.test(location.pathname)
  const refund = isRefund ? import('./pages/refund-page.tsx').catch(() => null) : null
  const first = await loadWords(readLanguage())
  RefundPage = (await refund)?.RefundPage ?? null
  const root = document.getElementById('root')
  // What stood there in case that no script comes.
  root?.replaceChildren()
  if (root !== null) render(<App first={first} />, root)
}
