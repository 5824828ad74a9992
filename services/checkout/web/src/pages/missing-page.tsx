import { useSpeech } from '../locales/locale.tsx'
import { Hero } from '../parts/blocks.tsx'
import { PlainFrame } from '../parts/frame.tsx'

/** Shown for unknown paths. */
export function MissingPage() {
  const { say } = useSpeech()
  return (
    <PlainFrame title={say('missing.title')}>
      <Hero tone="cancelled" icon="none" title={say('missing.title')}>
        {say('missing')}
      </Hero>
    </PlainFrame>
  )
}

/** The server did not respond; no data is lost. */
export function FailedPage({ retry }: { readonly retry: () => void }) {
  const { say } = useSpeech()
  return (
    <PlainFrame title={say('failed.title')}>
      <Hero tone="expired" icon="alert" title={say('failed.title')}>
        {say('failed')}
      </Hero>
      <div class="acts">
        <button type="button" class="button main" onClick={retry}>
          {say('again')}
        </button>
      </div>
    </PlainFrame>
  )
}

/** The frame of the page until the first response. */
export function LoadingPage() {
  const { say } = useSpeech()
  return (
    <main class="sheet" aria-busy="true">
      <div class="bill" />
      <section class="till">
        <h1 class="unseen">{say('loading')}</h1>
        <div class="skeleton" />
        <div class="skeleton tall" />
      </section>
    </main>
  )
}
