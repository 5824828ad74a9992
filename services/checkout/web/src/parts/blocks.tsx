import type { ComponentChildren } from 'preact'
import type { Tone } from '#shared/contracts/tone.ts'
import { awayText } from '../data/away-text.ts'
import type { Problem } from '../format/problem-text.ts'
import { useSpeech } from '../locales/locale.tsx'
import { Icon, type IconName } from './icon.tsx'

interface TonedProps {
  readonly tone: Tone
  readonly icon: IconName
  readonly children: ComponentChildren
}

/** A state as a word, a colour and an icon. */
export function Badge({ tone, icon, children }: TonedProps) {
  return (
    <span class={`badge tone-${tone}`}>
      <Icon name={icon} />
      {children}
    </span>
  )
}

/** A highlighted paragraph. */
export function Note({ tone, icon, children }: TonedProps) {
  return (
    <div class={`note tone-${tone}`}>
      <Icon name={icon} />
      <div>{children}</div>
    </div>
  )
}

/** The main message of a page where nothing is left to do. */
export function Hero({ tone, icon, title, children }: TonedProps & { readonly title: ComponentChildren }) {
  return (
    <div class="hero">
      <div class={`big tone-${tone}`}>
        <Icon name={icon} />
      </div>
      <h1 tabIndex={-1}>{title}</h1>
      <div class="sub">{children}</div>
    </div>
  )
}

/** The current state, always visible. Its changes are announced elsewhere. */
export function StateBar({ tone, icon, title, children }: TonedProps & { readonly title: ComponentChildren }) {
  return (
    <div class="state-bar">
      <span class={`orb tone-${tone}`}>
        <Icon name={icon} />
      </span>
      <div>
        <b>{title}</b>
        <span>{children}</span>
      </div>
    </div>
  )
}

/** Above a page that shows something older: why, and that it continues. */
export function Away({ problem }: { readonly problem: Problem }) {
  const speech = useSpeech()
  return (
    <p class="offline" role="alert">
      <Icon name="alert" />
      {awayText(speech, problem)}
    </p>
  )
}

/** A collapsible question. */
export function Question({
  title,
  isOpen,
  children,
}: {
  readonly title: ComponentChildren
  readonly isOpen?: boolean
  readonly children: ComponentChildren
}) {
  return (
    <details class="question" open={isOpen === true}>
      <summary>
        {title}
        <Icon name="chevron" />
      </summary>
      <div class="answer">{children}</div>
    </details>
  )
}

/** A link to a shop; only web addresses are ever linked. */
export function ShopLink({
  href,
  isMain,
  children,
}: {
  readonly href: string | null
  readonly isMain?: boolean
  readonly children: ComponentChildren
}) {
  if (href === null || !/^https?:\/\//.test(href)) return null
  return (
    <a class={isMain === true ? 'button main' : 'button'} href={href} rel="noreferrer">
      <span>{children}</span>
    </a>
  )
}
