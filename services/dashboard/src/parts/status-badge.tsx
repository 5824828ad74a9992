import type { TablerIcon } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import type { Tone } from '#shared/contracts/tone.ts'
import { type StatusKind, type StatusLabel, type StatusOf, VOCABULARY } from './status-vocabulary.ts'

/** A state as word, icon and colour: `<StatusBadge of="invoice" status={invoice.status} />`. */
export function StatusBadge<K extends StatusKind>({ of, status }: { readonly of: K; readonly status: StatusOf<K> }) {
  const entry = (VOCABULARY[of] as Readonly<Record<string, StatusLabel>>)[status]
  if (entry === undefined) return <ToneBadge tone="new">{status}</ToneBadge>
  return (
    <ToneBadge tone={entry.tone} icon={entry.icon}>
      {entry.word}
    </ToneBadge>
  )
}

/** A badge with its own text, such as a number of exceptions. */
export function ToneBadge(props: {
  readonly tone: Tone
  readonly icon?: TablerIcon | undefined
  readonly children: ReactNode
}) {
  const Icon = props.icon
  return (
    <span className={`pm-badge tone-${props.tone}`}>
      {Icon === undefined ? null : <Icon size={14} aria-hidden />}
      {props.children}
    </span>
  )
}
