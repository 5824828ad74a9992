import { awayText } from '../data/away-text.ts'
import { meaningOf, type Problem } from '../format/problem-text.ts'
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

/** Nothing could be read yet: why, and that nothing was charged. The page that shows it asks again. */
export function FailedPage({ problem, retry }: { readonly problem: Problem; readonly retry: () => void }) {
  const speech = useSpeech()
  const { say } = speech
  const isServer = meaningOf(problem) === 'away' && navigator.onLine
  return (
    <PlainFrame title={say('failed.title')}>
      <Hero tone="expired" icon="alert" title={say('failed.title')}>
        <p role="alert">{isServer ? say('failed') : awayText(speech, problem)}</p>
      </Hero>
      <div class="acts">
        <button type="button" class="button main" onClick={retry}>
          {say('again')}
        </button>
      </div>
    </PlainFrame>
  )
}

/** A page of which nothing was read: it may load, be unknown, or fail. */
export function UnloadedPage({ problem, retry }: { readonly problem: Problem | null; readonly retry: () => void }) {
  if (problem === null) return <LoadingPage />
  return meaningOf(problem) === 'unknown' ? <MissingPage /> : <FailedPage problem={problem} retry={retry} />
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
